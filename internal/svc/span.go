package svc

import "time"

// Span is a part of a trace that a worker host reports: an invocation of a worker, or its
// call of a binding. IDs are hex digits: 32 of the trace, 16 of a span.
type Span struct {
	Ref      Ref       `json:"ref"`
	Trace    string    `json:"trace"`
	ID       string    `json:"id"`
	Parent   string    `json:"parent"`
	Name     string    `json:"name"`               // of the handler, or of the binding's method
	Resource string    `json:"resource,omitempty"` // "<kind>/<resource>" of the binding; "" for an invocation
	Start    time.Time `json:"start"`
	End      time.Time `json:"end"`
	Failed   bool      `json:"failed,omitempty"`
}
