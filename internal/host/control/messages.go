package control

import (
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/svc"
)

// Spare is what a host without a version needs to start its workerd. It is a part of the
// spec that the host gets later; a workerd that was started otherwise is of no use then.
type Spare struct {
	Workerd   string        `json:"workerd"` // the binary
	RunDir    string        `json:"run_dir"`
	Confine   svc.Confine   `json:"confine"`
	Isolation svc.Isolation `json:"isolation,omitzero"`
	Inspect   bool          `json:"inspect"`
}

// SpareOf is the part of s that a host needs before it has a version.
func SpareOf(s svc.RuntimeSpec) Spare {
	return Spare{Workerd: s.Local.Workerd, RunDir: s.Local.RunDir, Confine: s.Host.Confine, Isolation: s.Host.Isolation, Inspect: s.Host.Inspect}
}

// Pong is the state of a host.
type Pong struct {
	Behind time.Duration `json:"behind"` // age of the oldest write that the object store does not have
	Error  string        `json:"error"`  // of the last try to bring one there; "" after a success
	// Requests to the object store since the last Pong or Notice that counted them.
	Requests []svc.RequestCount `json:"requests,omitempty"`
	Events   []svc.EventCount   `json:"events,omitempty"` // likewise, events of the worker
	Tallies  []svc.Tally        `json:"tallies,omitempty"`
	Spans    []svc.Span         `json:"spans,omitempty"` // since the last Pong or Notice with some
}

// Stop is the argument of a stop. Requests under way have Grace to finish.
type Stop struct {
	Grace time.Duration `json:"grace"`
}

// Seal is one step of a release, for the worker host of the version that is production.
type Seal struct {
	State SealState     `json:"state"`
	Drain time.Duration `json:"drain,omitempty"` // with SealPaused: for events under way
	// Interrupt, with SealPaused, ends events that take longer.
	Interrupt bool `json:"interrupt,omitempty"`
	// Wait, with SealPaused, is how long work that was given to waitUntil is waited for.
	Wait time.Duration `json:"wait,omitempty"`
	// Late, with SealPaused, has such work continue: it is not Running when Wait is over.
	Late bool `json:"late,omitempty"`
}

// SealState is what becomes of writes and events of the version.
type SealState string

// The states. A host whose line to the daemon ends while it is sealed ends too: it cannot know
// whether its data is another version's by now.
const (
	SealAhead    SealState = "ahead"    // no change: what waits is sent to the object store
	SealPaused   SealState = "paused"   // no event begins
	SealSealed   SealState = "sealed"   // writes wait, Durable Objects are stopped; the answer has the cut
	SealReleased SealState = "released" // another version has the data: writes fail until the process ends
	SealUndone   SealState = "undone"   // the release was undone: writes and events continue
)

// Sealing is the answer to a Seal.
type Sealing struct {
	Cut     branch.VersionCut `json:"cut"`               // with SealSealed
	Running []string          `json:"running,omitempty"` // with SealPaused: what still runs: the bindings of events, "alarms (1)" and "waitUntil (3)"
	Refused int               `json:"refused,omitempty"` // writes that failed since SealReleased
	// Unfinished counts instances of workflows, by workflow; with SealAhead and SealSealed.
	Unfinished map[string]int `json:"unfinished,omitempty"`
	Alarms     int            `json:"alarms,omitempty"`  // of Durable Objects; with SealSealed
	Stopped    bool           `json:"stopped,omitempty"` // with SealSealed: workerd does not run
}

// Positions are the transactions of the parent at which the databases of a version began, by
// database: 0 for one that began empty.
type Positions map[string]uint64

// Notice is what a host reports without being asked: what is set of it.
type Notice struct {
	Exit     *Exit              `json:"exit,omitempty"`     // the host is of no more use
	Requests []svc.RequestCount `json:"requests,omitempty"` // those that no Pong counted
	Events   []svc.EventCount   `json:"events,omitempty"`   // likewise
	Spans    []svc.Span         `json:"spans,omitempty"`    // likewise
	Works    bool               `json:"works,omitempty"`    // the worker gets an event after it did nothing for a while

	// Of a host on another machine:
	Call *Call `json:"call,omitempty"`
	Logs *Logs `json:"logs,omitempty"`
	Gone *Gone `json:"gone,omitempty"` // the last notice
	// Leaving says that the machine stops soon: the version is to move to another one.
	Leaving bool `json:"leaving,omitempty"`
}

// Exit says why a host is of no more use: workerd exited without being stopped, or
// the data was lost to another owner.
type Exit struct {
	Code   string `json:"code"`   // as workerd.Explain names it
	Detail string `json:"detail"` // for people
}
