package saga

import "context"

// Phase is what an entry of the journal says about its step.
type Phase string

// A step is Started before Do and Done after it. Failed is the decision to
// compensate, written before the first Undo; Undone follows each Undo.
const (
	Started Phase = "started"
	Done    Phase = "done"
	Failed  Phase = "failed"
	Undone  Phase = "undone"
)

// Entry is one line of a journal.
type Entry struct {
	Step  string
	Phase Phase
	Cause error // with Failed: why. A journal keeps its text at most.
}

// Journal records one run durably: an entry must be durable when Record returns
// nil. Package sagatest holds the tests that an implementation must pass.
type Journal interface {
	// Record appends e.
	Record(ctx context.Context, e Entry) error
	// Steps returns every entry in the order of Record.
	Steps(ctx context.Context) ([]Entry, error)
}
