package project

import (
	"fmt"
	"slices"

	"github.com/svcctl/svcctl/internal/lib/cronexpr"
	"github.com/svcctl/svcctl/internal/svc"
)

// triggers reads the cron expressions, which an environment inherits unless it has its own.
func (l *layers) triggers(f *File) {
	at, n := l.path("triggers"), l.get("triggers")
	if n == nil || n.empty() || !l.r.is(n, at, kindObject) {
		return
	}
	l.r.members(n, at, []string{"crons"}, nil)
	crons := n.get("crons")
	if crons == nil || crons.empty() || !l.r.is(crons, at+".crons", kindArray) {
		return
	}
	for i, item := range crons.items {
		at := fmt.Sprintf("%s.crons[%d]", at, i)
		if !l.r.is(item, at, kindString) {
			continue
		}
		s, err := cronexpr.Parse(item.text)
		switch {
		case err != nil:
			l.r.problem(svc.CodeConfigInvalid, at, item.pos, "%s: %s", at, err)
		case slices.Contains(f.Crons, s.String()):
			l.r.warn(item.pos, "%s is listed twice: %q runs once when it is due", at, s)
		default:
			f.Crons = append(f.Crons, s.String())
		}
	}
}
