package svc

import (
	"slices"
	"strings"
	"time"
)

// FeedEvent is one thing that happened on the server. ID is its position in the
// feed: it grows with every event and is never used twice.
type FeedEvent struct {
	ID      int64
	Type    string // one of FeedTypes
	Project string // "" for the server itself
	Version string // "" for a project or the server itself
	Data    FeedData
	Time    time.Time
}

// FeedData has the details of an event. Which fields are set depends on the type.
type FeedData struct {
	Status    string `json:"status,omitempty"`   // after the event
	Previous  string `json:"previous,omitempty"` // status or production before it
	Step      string `json:"step,omitempty"`
	StepState string `json:"step_status,omitempty"`
	Detail    string `json:"detail,omitempty"`
	Error     string `json:"error,omitempty"`
	Operation string `json:"operation_id,omitempty"`
	GitRef    string `json:"git_ref,omitempty"`
	Depth     *int   `json:"depth,omitempty"`    // of the deploy queue
	Restarts  int    `json:"restarts,omitempty"` // of a runtime
	Action    string `json:"action,omitempty"`   // of an audit record
	Actor     string `json:"actor,omitempty"`    // of an audit record
}

// The types of events that are not written by the registry itself.
const (
	FeedRuntimeUp        = "runtime.up"
	FeedRuntimeDown      = "runtime.down"
	FeedRuntimeAsleep    = "runtime.asleep"
	FeedRuntimeRestarted = "runtime.restarted"
	FeedRuntimeWaiting   = "runtime.waiting"
	FeedServerStarted    = "server.started"
	FeedHealth           = "health.changed"
	FeedGC               = "gc.done"
	FeedEnvChanged       = "env.changed"
	FeedAudit            = "audit"
	FeedWatch            = "promotion.watch"
)

// FeedQuery selects events of the feed.
type FeedQuery struct {
	Cursor  string        // continue after this event; "" for what comes next
	Tail    int           // without a cursor: begin with the last events, at most this number
	Limit   int           // maximum number of events of a page
	Wait    time.Duration // how long a page without events waits for one
	Project string        // "" for all
	Types   []string      // types, or groups of them such as "version"; none for all
}

// Selects reports whether the query's filters select an event.
func (q FeedQuery) Selects(e FeedEvent) bool {
	if q.Project != "" && q.Project != e.Project {
		return false
	}
	group, _, _ := strings.Cut(e.Type, ".")
	return len(q.Types) == 0 || slices.Contains(q.Types, e.Type) || slices.Contains(q.Types, group)
}

// FeedPage is a part of the feed. Cursor is the position after it.
type FeedPage struct {
	Events []FeedEvent
	Cursor string
}
