package config

import (
	"errors"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

var errHistory = errors.New("want off, or how long all points, those of minutes and those of hours are kept, such as 1h/1d/7d, at most 400d, and perhaps a limit, such as 1h/1d/7d/20GiB")

// history reads SVC_HISTORY.
func history(v string) (h svc.History, err error) {
	if v == "off" {
		return h, nil
	}
	parts := strings.Split(v, "/")
	if len(parts) == 4 {
		if h.MaxSize, err = Size(parts[3]); err != nil {
			return svc.History{}, errHistory
		}
		parts = parts[:3]
	}
	if len(parts) != 3 {
		return svc.History{}, errHistory
	}
	for i, tier := range []*time.Duration{&h.Seconds, &h.Minutes, &h.Hours} {
		if *tier, err = within(parts[i], 0, svc.MaxHistory); err != nil {
			return svc.History{}, errHistory
		}
	}
	if h.Off() {
		return svc.History{}, errHistory
	}
	return h, nil
}
