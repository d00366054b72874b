package jobs

import "time"

// The delays of Backoff.
const (
	FirstDelay = time.Second
	MaxDelay   = time.Minute
)

// Backoff is how long a job waits after its attempt-th attempt failed: one
// second, then four times as long each time, at most a minute.
func Backoff(attempt int) time.Duration {
	d := FirstDelay
	for range attempt - 1 {
		if d *= 4; d >= MaxDelay {
			return MaxDelay
		}
	}
	return d
}
