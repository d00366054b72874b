package workerhost

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

const (
	maxSpans    = 2048 // that wait for the daemon; later ones are dropped
	maxSpanName = 200  // bytes: a worker can imitate the entry module
)

// spans are those that no Pong has reported.
type spans struct {
	mu   sync.Mutex
	list []svc.Span
}

// printed is a span as the entry module prints it. Times are milliseconds since 1970.
type printed struct {
	Trace    string `json:"trace"`
	ID       string `json:"id"`
	Parent   string `json:"parent"`
	Name     string `json:"name"`
	Resource string `json:"resource"`
	Start    int64  `json:"start"`
	End      int64  `json:"end"`
	Failed   bool   `json:"failed"`
}

// add takes spans that the worker of ref printed, as JSON.
func (s *spans) add(ref svc.Ref, text string) {
	var list []printed
	if json.Unmarshal([]byte(text), &list) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range list {
		if len(s.list) >= maxSpans {
			return
		}
		if len(p.Trace)+len(p.ID)+len(p.Parent) > 64 || len(p.Name) > maxSpanName || len(p.Resource) > maxSpanName {
			continue
		}
		s.list = append(s.list, svc.Span{
			Ref: ref, Trace: p.Trace, ID: p.ID, Parent: p.Parent, Name: p.Name, Resource: p.Resource,
			Start: time.UnixMilli(p.Start).UTC(), End: time.UnixMilli(p.End).UTC(), Failed: p.Failed,
		})
	}
}

// TakeSpans returns the spans that the worker reported since the last call.
func (h *Host) TakeSpans() []svc.Span {
	s := h.opts.spans
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.list
	s.list = nil
	return list
}
