package cron

import (
	"context"
	"fmt"
	"net/http"

	"github.com/svcctl/svcctl/internal/host/binding"
)

const (
	defaultRuns = 50
	maxRuns     = 1000 // of a page
	nextRuns    = 5
)

var (
	_ binding.Admin    = Kind{}
	_ binding.Measured = (*schedules)(nil)
)

// Stats tells the number of expressions.
func (s *schedules) Stats(context.Context) (map[string]int64, error) {
	return map[string]int64{"crons": int64(len(s.list))}, nil
}

// Admin gives the operations on cron expressions.
func (Kind) Admin(open []binding.Opened) map[string]binding.Operation {
	var s *schedules // nil for a version without crons
	for _, o := range open {
		s, _ = o.Instance.(*schedules)
	}
	return map[string]binding.Operation{"GET /crons": binding.Timed(s.listCrons), "GET /crons/runs": binding.Timed(s.listRuns)}
}

// listedCron is one row of GET /crons.
type listedCron struct {
	Cron string     `json:"cron"`
	Next []string   `json:"next_runs"`
	Last *listedRun `json:"last_run,omitempty"`
}

// listedRun is a run in the API.
type listedRun struct {
	Cron    string `json:"cron"`
	Due     string `json:"scheduled_time"`
	Started string `json:"started_at"`
	Millis  *int64 `json:"duration_ms,omitempty"`
	Outcome string `json:"outcome"`
	Retry   bool   `json:"retry"`
	Failure string `json:"error,omitempty"`
}

func (s *schedules) listCrons(w http.ResponseWriter, r *http.Request) error {
	answer := struct {
		Armed bool         `json:"armed"`
		Items []listedCron `json:"items"`
	}{Items: []listedCron{}}
	if s == nil {
		return binding.WriteJSON(w, answer)
	}
	runs, err := s.journal.latest(r.Context())
	if err != nil {
		return err
	}
	last := map[string]*listedRun{}
	for _, r := range runs {
		last[r.cron] = s.listed(&r)
	}
	_, answer.Armed = s.NextWake()
	for _, e := range s.list {
		item := listedCron{Cron: e.String(), Next: []string{}, Last: last[e.String()]}
		for at := s.clock.now(); answer.Armed && len(item.Next) < nextRuns; {
			at = e.Next(at)
			item.Next = append(item.Next, binding.Stamp(at))
		}
		answer.Items = append(answer.Items, item)
	}
	return binding.WriteJSON(w, answer)
}

func (s *schedules) listRuns(w http.ResponseWriter, r *http.Request) error {
	limit, err := binding.ListLimit(r, defaultRuns, maxRuns)
	if err != nil {
		return err
	}
	before, scope := int64(0), binding.Scope("crons")
	if err := binding.ReadCursor(scope, r.URL.Query().Get("cursor"), &before); err != nil {
		return err
	}
	var runs []run
	if s != nil {
		if runs, err = s.journal.runs(r.Context(), before, limit+1); err != nil {
			return err
		}
	}
	runs, next, err := binding.Page(runs, limit, scope, func(i int) any { return runs[i].id })
	if err != nil {
		return fmt.Errorf("list cron runs: %w", err)
	}
	items := make([]*listedRun, len(runs))
	for i := range runs {
		items[i] = s.listed(&runs[i])
	}
	return binding.WritePage(w, items, next)
}

func (s *schedules) listed(r *run) *listedRun {
	l := &listedRun{
		Cron: r.cron, Due: binding.Stamp(r.due), Started: binding.Stamp(r.started),
		Outcome: string(r.outcome), Retry: r.retry, Failure: r.failure,
	}
	if !r.ended.IsZero() {
		took := max(0, r.ended.Sub(r.started).Milliseconds())
		l.Millis = &took
	}
	if r.outcome == "" {
		l.Outcome = string(outcomeInterrupted)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.running[r.id] {
			l.Outcome = string(outcomeRunning)
		}
	}
	return l
}
