package cron

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	adminTime   = 30 * time.Second
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
	return map[string]binding.Operation{"GET /crons": s.listCrons, "GET /crons/runs": s.listRuns}
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
	ctx, cancel := context.WithTimeout(r.Context(), adminTime)
	defer cancel()
	answer := struct {
		Armed bool         `json:"armed"`
		Items []listedCron `json:"items"`
	}{Items: []listedCron{}}
	if s == nil {
		return binding.WriteJSON(w, answer)
	}
	runs, err := s.journal.latest(ctx)
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
			item.Next = append(item.Next, formatted(at))
		}
		answer.Items = append(answer.Items, item)
	}
	return binding.WriteJSON(w, answer)
}

func (s *schedules) listRuns(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), adminTime)
	defer cancel()
	limit, before, scope := defaultRuns, int64(0), binding.Scope("crons")
	if text := r.URL.Query().Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return svc.Errorf(svc.BadRequest, svc.CodeInvalidLimit, "limit must be a number from 1 to %d", maxRuns)
		}
		limit = min(n, maxRuns)
	}
	if err := binding.ReadCursor(scope, r.URL.Query().Get("cursor"), &before); err != nil {
		return err
	}
	var runs []run
	if s != nil {
		var err error
		if runs, err = s.journal.runs(ctx, before, limit+1); err != nil {
			return err
		}
	}
	var next *string
	if len(runs) > limit {
		runs = runs[:limit]
		cursor, err := binding.Cursor(scope, runs[limit-1].id)
		if err != nil {
			return fmt.Errorf("list cron runs: %w", err)
		}
		next = &cursor
	}
	items := make([]*listedRun, len(runs))
	for i := range runs {
		items[i] = s.listed(&runs[i])
	}
	return binding.WriteJSON(w, map[string]any{"items": items, "next_cursor": next})
}

func (s *schedules) listed(r *run) *listedRun {
	l := &listedRun{
		Cron: r.cron, Due: formatted(r.due), Started: formatted(r.started),
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

func formatted(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }
