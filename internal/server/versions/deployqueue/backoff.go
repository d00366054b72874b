package deployqueue

import "time"

// The delays of Backoff.
const (
	FirstDelay = time.Second
	MaxDelay   = time.Minute
)

// Backoff returns the delay after the given failed attempt: FirstDelay, then four
// times the previous delay, at most MaxDelay.
func Backoff(attempt int) time.Duration {
	d := FirstDelay
	for range attempt - 1 {
		if d *= 4; d >= MaxDelay {
			return MaxDelay
		}
	}
	return d
}
