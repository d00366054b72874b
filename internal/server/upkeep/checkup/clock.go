package checkup

import (
	"context"
	"net/http"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

const (
	// clockOff is the difference from which the check warns. It fails at clockRefused, where
	// object stores begin to refuse signatures.
	clockOff     = 30 * time.Second
	clockRefused = 10 * time.Minute
)

// Clock compares the clock of the server with that of an external object store; endpoint is
// "" for the embedded one.
func Clock(endpoint string, c *http.Client, now func() time.Time) Check {
	return Check{"clock", func(ctx context.Context) svc.Finding {
		if endpoint == "" {
			return svc.Found(svc.FindingSkipped, "the embedded object store has the clock of the server")
		}
		theirs, err := dateOf(ctx, c, endpoint)
		if err != nil {
			return svc.Found(svc.FindingSkipped, "the object store does not say its time: %v", err)
		}
		off := now().Sub(theirs).Abs().Round(time.Second)
		const advice = "synchronize the clock of the server: timedatectl set-ntp true, or chrony"
		switch {
		case off >= clockRefused:
			return svc.Found(svc.FindingFailed, "%s apart from the object store, which refuses signatures at 15m", off).WithAdvice(advice)
		case off >= clockOff:
			return svc.Found(svc.FindingWarning, "%s apart from the object store", off).WithAdvice(advice)
		}
		return svc.Found(svc.FindingOK, "%s apart from the object store", off)
	}}
}

// dateOf returns the time of a web server, whatever it answers.
func dateOf(ctx context.Context, c *http.Client, url string) (time.Time, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodHead, url, http.NoBody)
	if err != nil {
		return time.Time{}, err
	}
	resp, err := c.Do(r)
	if err != nil {
		return time.Time{}, err
	}
	_ = resp.Body.Close()
	return http.ParseTime(resp.Header.Get("Date"))
}
