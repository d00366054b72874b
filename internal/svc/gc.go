package svc

import "time"

// GCRequest says what to collect.
type GCRequest struct {
	Project string // "" for all
	DryRun  bool   // change nothing
}

// GCReport is what a garbage collection of the object store did, or with a dry
// run would do.
type GCReport struct {
	DryRun     bool
	Incomplete bool // time was up before every project had its turn
	StartedAt  time.Time
	Took       time.Duration
	Grace      time.Duration // how long what nobody needs is kept
	LastSweep  time.Time     // of all projects, without an error; zero for none since the start
	LastAudit  time.Time     // likewise
	Projects   []GCProject
}

// GCProject is the part of a GCReport that is about one project.
type GCProject struct {
	ID       string
	Err      error // why it was not collected, or not to the end
	Versions []GCVersion
	Marked   []string // versions that their records now call destroyed
	Removed  []string // destroyed versions of which nothing is left
	Broken   []StoreProblem
}

// GCVersion is what the objects of one version are for.
type GCVersion struct {
	ID       string
	Status   Status // "" when the registry does not know it
	Data     string // state of its data: live, archived, destroying; "" without a record
	Live     Amount // its own objects that it needs itself
	Pinned   Amount // objects that only other versions need
	PinnedBy []GCPin
	Waiting  Amount        // needed by nobody, within the grace
	Left     time.Duration // until the last of them may go
	Gone     Amount        // deleted; with a dry run: due
	Other    Amount        // what a sweep does not know and leaves alone
}

// GCPin is what one version needs of another's files.
type GCPin struct {
	Version string
	Amount
}

// GCAudit is the result of a check of all that versions need.
type GCAudit struct {
	Incomplete bool
	StartedAt  time.Time
	Took       time.Duration
	Projects   int
	Versions   int // wanted ones
	Stores     int
	Files      int // that they need
	Problems   []StoreProblem
}

// StoreProblem is something wrong with the data of a version in the object
// store. It is also an error.
type StoreProblem struct {
	Code   string
	Ref    Ref    // the version that is not well
	Store  string // "" when it is about the whole version
	Key    string // of the first object concerned; "" when there is none
	Count  int    // of objects concerned
	Detail string
}
