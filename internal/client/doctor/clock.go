package doctor

import (
	"context"
	"net/http"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// clockOff is the difference from which the check warns.
const clockOff = 30 * time.Second

// clock compares the clock of this machine with that of the server.
func (s *site) clock(ctx context.Context) svc.Finding {
	before := s.Now()
	resp, err := s.health(ctx)
	if err != nil {
		return svc.Found(svc.FindingSkipped, "the API does not answer")
	}
	theirs, err := http.ParseTime(resp.header.Get("Date"))
	if err != nil {
		return svc.Found(svc.FindingSkipped, "the API does not say its time")
	}
	off := apart(theirs, before, s.Now()).Round(time.Second)
	if off >= clockOff {
		return svc.Found(svc.FindingWarning, "%s apart from the server", off).
			WithAdvice("synchronize the clocks of this machine and of the server: timedatectl set-ntp true, or chrony")
	}
	return svc.Found(svc.FindingOK, "%s apart from the server", off)
}
