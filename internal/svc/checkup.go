package svc

import "fmt"

// FindingStatus is the result of one check of an installation.
type FindingStatus string

// The results. Skipped is a check that does not apply, or that could not run.
const (
	FindingOK      FindingStatus = "ok"
	FindingWarning FindingStatus = "warning"
	FindingFailed  FindingStatus = "failed"
	FindingSkipped FindingStatus = "skipped"
)

// Finding is what one check of an installation found.
type Finding struct {
	Check  string        `json:"check"`
	Status FindingStatus `json:"status"`
	Detail string        `json:"detail"`
	Advice string        `json:"advice,omitempty"` // what to change; "" if nothing is to be changed
}

// Found returns a finding without advice.
func Found(status FindingStatus, format string, args ...any) Finding {
	return Finding{Status: status, Detail: fmt.Sprintf(format, args...)}
}

// WithAdvice returns a copy that says what to change.
func (f Finding) WithAdvice(format string, args ...any) Finding {
	f.Advice = fmt.Sprintf(format, args...)
	return f
}
