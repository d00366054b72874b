package project

import (
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/lib/text"
	"github.com/svcctl/svcctl/internal/svc"
)

// history reads how long points of the past are kept: "off", or times by tier.
func (s *settings) history(n *node, at string) {
	switch {
	case n == nil:
		return
	case n.kind == kindString && n.text == "off":
		s.out.History = bundle.NoHistory()
		return
	case n.kind == kindString:
		s.r.problem(svc.CodeConfigInvalid, at, n.pos, `%s is %q; it can be "off", or an object with seconds, minutes, hours and max_size`, at, n.text)
		return
	case !s.r.is(n, at, kindObject):
		return
	}
	s.r.only(n, at, "seconds", "minutes", "hours", "max_size")
	h := &bundle.History{
		Seconds: s.time(n.get("seconds"), at+".seconds"), Minutes: s.time(n.get("minutes"), at+".minutes"), Hours: s.time(n.get("hours"), at+".hours"),
	}
	if size := n.get("max_size"); s.r.is(size, at+".max_size", kindString) {
		var err error
		if h.MaxSize, err = config.Size(size.text); err != nil {
			s.r.problem(svc.CodeConfigInvalid, at+".max_size", size.pos, "%s.max_size is %q: %s", at, size.text, err)
		}
	}
	if *h != (bundle.History{}) {
		s.out.History = h
	}
}

// time reads how long a tier is kept.
func (s *settings) time(n *node, at string) *int64 {
	if !s.r.is(n, at, kindString) {
		return nil
	}
	d, err := text.Duration(n.text)
	if n.text == "off" {
		d, err = 0, nil
	}
	if err != nil || d < 0 || d > svc.MaxHistory {
		s.r.problem(svc.CodeConfigInvalid, at, n.pos, "%s is %q; want off, or a time such as 1h or 7d, at most 400d", at, n.text)
		return nil
	}
	seconds := int64(d / time.Second)
	return &seconds
}
