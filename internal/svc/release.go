package svc

import (
	"fmt"
	"strings"
	"time"
)

// Events says which events of its own (crons, messages, workflows, alarms) reach the worker of a
// version that is not production. Production always gets all of them.
type Events string

// The values of Events.
const (
	EventsOn         Events = ""            // messages and workflows; crons are for production [C10.2]
	EventsOff        Events = "off"         // none: the version rehearses a release
	EventsHandedOver Events = "handed_over" // none: a release made another version continue with them
)

// RunsEvents reports whether messages and workflows of v reach its worker. Those of a version that
// a release makes do not before it is production.
func (v Version) RunsEvents() bool {
	return v.Production || v.Events == EventsOn && (v.ReleasedFrom == "" || !v.ReadyAt.IsZero())
}

// Arming is which events of its own reach the worker of a version, and whether it may write.
type Arming struct {
	Crons    bool // spec: [C10.1] [C10.2] [C10.3]
	Events   bool // messages and workflows
	ReadOnly bool // no event begins, and writes of the worker fail; the others say what comes after it
}

// Arms returns which events v, a version of p, gets, and whether it may write.
func (p Project) Arms(v Version) Arming {
	return Arming{Crons: p.ArmsCron(v), Events: v.RunsEvents(), ReadOnly: p.ReadOnly}
}

// PromotionKind tells a release from a promote.
type PromotionKind string

// The kinds.
const (
	KindPromote PromotionKind = "promote"
	KindRelease PromotionKind = "release" // of new code on the data of production
)

// LateRequests says what becomes of requests of production that outlast the drain of a release.
type LateRequests string

// The values of LateRequests.
const (
	LateWait   LateRequests = "wait"   // the release is undone
	LateRefuse LateRequests = "refuse" // they continue, and their writes fail with version_released
)

// ReleaseRequest holds the parameters of a release. Zero values mean the defaults.
type ReleaseRequest struct {
	VersionID    string  // of the version that the release makes; "" generates one
	ExpectedProd *string // nil for no condition
	Reason       string  // for people
	GitRef       *string // in place of the candidate's; nil keeps that
	MaxHold      time.Duration
	LateRequests LateRequests
	Check        string // path that must answer 2xx on the new process; "" for the manifest's
	// InterruptEvents ends events that outlast the drain; else they undo the release.
	InterruptEvents bool
	// LeaveInstances leaves the instances of workflows that the new code lacks with the old version.
	LeaveInstances bool
	Watch          ReleaseWatch
	Rollback       bool // the release of earlier code: schema_moved unless Force
	Force          bool
}

// ReleaseWatch is a watch over a release that is done: the server goes back by itself, with
// the data kept, when a limit is exceeded within For.
type ReleaseWatch struct {
	For     time.Duration // 0 for no watch
	AbortOn string        // such as "errors>1%"
}

// maxCheck is the maximum length of a path to check.
const maxCheck = 1024

// MaxHoldLimit is the longest hold that a release may ask for.
const MaxHoldLimit = 30 * time.Minute

// Validate checks every field and returns one error for all that are invalid.
func (r ReleaseRequest) Validate() error {
	var fields []FieldError
	if r.VersionID != "" {
		if err := CheckID(r.VersionID); err != nil {
			fields = append(fields, FieldError{"/version_id", CodeInvalidID, err.Error()})
		}
	}
	if r.MaxHold < 0 || r.MaxHold > MaxHoldLimit {
		fields = append(fields, FieldError{"/max_hold_ms", CodeInvalidRelease, fmt.Sprintf("want at most %s", MaxHoldLimit)})
	}
	switch r.LateRequests {
	case "", LateWait, LateRefuse:
	default:
		fields = append(fields, FieldError{"/late_requests", CodeInvalidRelease, "want wait or refuse"})
	}
	if err := CheckReleasePath(r.Check); err != nil {
		fields = append(fields, FieldError{"/check", CodeInvalidRelease, err.Error()})
	}
	return Invalid(append(fields, r.Watch.problems()...))
}

// CheckReleasePath returns an error for a path that cannot be asked for; "" is valid.
func CheckReleasePath(path string) error {
	if path != "" && (!strings.HasPrefix(path, "/") || len(path) > maxCheck || strings.ContainsAny(path, "\r\n\x00 ")) {
		return fmt.Errorf("want a path that begins with / and has at most %d bytes without spaces", maxCheck)
	}
	return nil
}

// The terms of an expected hold.
const (
	usualHold      = 150 * time.Millisecond // without migrations
	migrationSlack = 1.5                    // of the time that they took in the candidate
)

// ExpectedHold estimates the hold of a release whose candidate took this long for its migrations.
func ExpectedHold(migrations time.Duration) time.Duration {
	return usualHold + time.Duration(float64(migrations)*migrationSlack)
}

// Released is what a release did beside a promote.
type Released struct {
	MovedInstances int           `json:"moved_instances,omitempty"` // unfinished, of workflows
	MovedAlarms    int           `json:"moved_alarms,omitempty"`    // of Durable Objects
	LateRefused    int           `json:"late_refused,omitempty"`    // writes that failed with version_released
	Expected       time.Duration `json:"expected,omitempty"`        // hold, as said before
	Steps          []HoldStep    `json:"steps,omitempty"`           // of the hold
}

// Migrated is which migrations the deploy of a version applied, as "<binding>/<name>", and how long
// all of them took.
type Migrated struct {
	Names []string
	Took  time.Duration
}

// HoldStep is one step of the hold of a release and its time.
type HoldStep struct {
	Step string        `json:"step"`
	Took time.Duration `json:"took"`
}

// ReleasePlan is what a release of a candidate would do.
type ReleasePlan struct {
	Project    string
	Candidate  string
	Status     Status // of the candidate
	Production string // "" for none
	Expected   time.Duration
	Limit      time.Duration
	Migrations []string // that production has not applied
	Own        Unmerged // what the candidate wrote itself, which stays in it
	Waiting    Waiting  // messages and instances that move
	// Blocked says why the release would be refused; "" if it would not.
	Blocked string
}
