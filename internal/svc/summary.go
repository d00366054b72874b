package svc

import "time"

// ProjectSummary is what the registry knows about the versions of a project; destroyed
// ones do not count.
type ProjectSummary struct {
	Versions        map[Status]int
	Pinned          int
	Previews        int       // preview names
	ProductionSince time.Time // zero without production
	Last            *Version  // the newest, with its ids, labels, status and times only; nil without one
}
