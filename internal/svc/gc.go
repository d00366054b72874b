package svc

import "time"

// GCRequest is a request to collect garbage in the object store.
type GCRequest struct {
	Project string // "" for all
	DryRun  bool   // change nothing
}

// GCReport is the result of a garbage collection, or what it would do for a dry run.
type GCReport struct {
	DryRun     bool
	Incomplete bool // the time limit ended it before all projects were collected
	StartedAt  time.Time
	Took       time.Duration
	Grace      time.Duration // how long objects that no version needs are kept
	LastSweep  time.Time     // last collection of all projects without an error; zero if none since the start
	LastAudit  time.Time     // last audit of all projects; zero if none since the start
	Projects   []GCProject
}

// GCProject is the part of a GCReport that is about one project.
type GCProject struct {
	ID       string
	Err      error // why collection failed or stopped early
	Versions []GCVersion
	Marked   []string // versions whose records were set to destroyed
	Removed  []string // destroyed versions that are fully deleted
	Broken   []StoreProblem
	Assets   GCAssets
}

// GCAssets counts the static files of a project's versions.
type GCAssets struct {
	Live    Amount // that a version needs
	Waiting Amount // unneeded ones within the grace period
	Gone    Amount // deleted; in a dry run, due for deletion
}

// GCVersion counts the objects of one version by what they are needed for.
type GCVersion struct {
	ID       string
	Status   Status // "" when the registry does not know it
	Data     string // state of its data: live, archived, destroying; "" without a record
	Live     Amount // own objects that the version itself needs
	Pinned   Amount // own objects that only other versions need
	PinnedBy []GCPin
	Waiting  Amount        // unneeded objects within the grace period
	Left     time.Duration // until the last of them may be deleted
	Gone     Amount        // deleted; in a dry run, due for deletion
	Other    Amount        // unknown objects, which are kept
}

// GCPin is the amount of a version's objects that another version needs.
type GCPin struct {
	Version string
	Amount
}

// GCAudit is the result of an audit: a check of all objects that versions need.
type GCAudit struct {
	Incomplete bool
	StartedAt  time.Time
	Took       time.Duration
	Projects   int
	Versions   int // those that are not destroyed
	Databases  int
	Files      int // that they need
	Problems   []StoreProblem
}

// StoreProblem is a defect of a version's data in the object store.
type StoreProblem struct {
	Code     string
	Ref      Ref    // the version with the defect
	Database string // "" if it concerns the whole version
	Key      string // of the first object concerned; "" without one
	Count    int    // of objects concerned
	Detail   string
}
