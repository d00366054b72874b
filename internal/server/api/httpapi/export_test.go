package httpapi

import (
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// CheckTicket issues a poll ticket and returns a function that checks it.
func CheckTicket(key, project, version string) func() (expired, ok bool) {
	p, ref := pollTickets{[]byte(key)}, svc.Ref{Project: project, Version: version}
	ticket := p.issue(ref, time.Now()).Token
	return func() (expired, ok bool) {
		got, expired, ok := p.check(ticket, time.Now())
		return expired, ok && got == ref
	}
}
