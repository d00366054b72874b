package svc

import (
	"context"
	"crypto/rand"
	"reflect"
	"sync"
)

// AuditDraft is the audit record of a request that is under way. It travels in the context
// of the request: the registry stores it in the transaction of each change that the request
// makes, so that a change has a record also when the process ends before the request. Safe
// for concurrent use; the methods of nil do nothing.
type AuditDraft struct {
	key    string
	fields func(*Project, *Version) map[string]any

	mu     sync.Mutex
	record AuditRecord
	ended  bool
}

// NewAuditDraft returns the draft of a, whose Before are the fields before the request and
// whose Status is 0. fields returns what records compare of a project and a version, which
// may be nil.
func NewAuditDraft(a AuditRecord, fields func(*Project, *Version) map[string]any) *AuditDraft {
	return &AuditDraft{key: rand.Text(), fields: fields, record: a}
}

// Key is the name of the draft in the registry, "" for nil.
func (d *AuditDraft) Key() string {
	if d == nil {
		return ""
	}
	return d.key
}

// About says which project and version the request has created.
func (d *AuditDraft) About(ref Ref) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.record.Project, d.record.Version = ref.Project, ref.Version
}

// Ref is what the record is about; open is false for nil and after End.
func (d *AuditDraft) Ref() (ref Ref, open bool) {
	if d == nil {
		return Ref{}, false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return Ref{Project: d.record.Project, Version: d.record.Version}, !d.ended
}

// Record returns the record with the fields that differ now.
func (d *AuditDraft) Record(p *Project, v *Version) AuditRecord {
	d.mu.Lock()
	defer d.mu.Unlock()
	a := d.record
	a.Before, a.After = AuditDifference(a.Before, d.fields(p, v))
	return a
}

// End says that the request has its record: later changes of work that continues after the
// request belong to no draft.
func (d *AuditDraft) End() {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
}

// AuditDifference returns the fields that differ.
func AuditDifference(before, after map[string]any) (was, is map[string]any) {
	was, is = map[string]any{}, map[string]any{}
	for key, value := range before {
		if now, ok := after[key]; !ok || !reflect.DeepEqual(now, value) {
			was[key] = value
		}
	}
	for key, value := range after {
		if old, ok := before[key]; !ok || !reflect.DeepEqual(old, value) {
			is[key] = value
		}
	}
	return was, is
}

type auditDraftKey struct{}

// WithAuditDraft returns a context whose changes of the registry belong to d.
func WithAuditDraft(ctx context.Context, d *AuditDraft) context.Context {
	return context.WithValue(ctx, auditDraftKey{}, d)
}

// AuditDraftOf returns the draft of ctx, nil without one.
func AuditDraftOf(ctx context.Context) *AuditDraft {
	d, _ := ctx.Value(auditDraftKey{}).(*AuditDraft)
	return d
}
