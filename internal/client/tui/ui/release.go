package ui

import (
	"github.com/svcctl/svcctl/pkg/api"
)

// Released says in one line what a release did.
func Released(p api.Promotion) string {
	text := "released " + p.CandidateVersionID + " as " + p.VersionID
	if p.HeldMs == nil {
		return text
	}
	return text + " · held " + InMillis(*p.HeldMs)
}

// Before marks a version whose data a release has continued; "" for another one.
func Before(v api.Version) string {
	if v.HandedOverTo == "" {
		return ""
	}
	return "before " + v.HandedOverTo
}
