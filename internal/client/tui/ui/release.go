package ui

import (
	"fmt"

	"github.com/svcctl/svcctl/pkg/api"
)

// Released says in one line what a release did.
func Released(p api.Promotion) string {
	text := "released " + p.CandidateVersionID + " as " + p.VersionID
	switch {
	case p.HeldMs == nil:
		return text
	case *p.HeldMs < 1000:
		return text + fmt.Sprintf(" · held %.0f ms", *p.HeldMs)
	}
	return text + fmt.Sprintf(" · held %.1f s", *p.HeldMs/1000)
}

// Before marks a version whose data a release has continued; "" for another one.
func Before(v api.Version) string {
	if v.HandedOverTo == "" {
		return ""
	}
	return "before " + v.HandedOverTo
}
