package logs

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/lib/ring"
	"github.com/svcctl/svcctl/internal/lib/sourcemap"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	busyDelay   = 100 * time.Millisecond // of the entries of requests, if there are many
	pollEvery   = 50 * time.Millisecond  // of a follower: an entry of this machine is at most 70 ms old, with busyDelay 150 ms
	targetEvery = 250 * time.Millisecond
	heldBefore  = 2000 // entries before a cursor that may belong to an invocation after it
)

// Service reads the logs of versions.
type Service struct {
	dir     func(svc.Ref) string
	sources *sources
	once    sync.Once
	closed  chan struct{}
}

// New makes a Service for versions whose log directory is dir(ref), and whose bundle is
// unpacked in bundle(ref), with the source maps that apply to stacks.
func New(dir, bundle func(svc.Ref) string) *Service {
	return &Service{dir: dir, sources: &sources{bundle: bundle, maps: map[string]*sourcemap.Map{}}, closed: make(chan struct{})}
}

// Stop ends all followers.
func (s *Service) Stop() { s.once.Do(func() { close(s.closed) }) }

// Read returns the entries of ref that q selects: the first q.Tail ones after the cursor,
// or else the last q.Tail ones. Errors: BadRequest for a query that cannot be meant.
func (s *Service) Read(ctx context.Context, ref svc.Ref, q svc.LogQuery) (svc.LogPage, error) {
	q = cursorOf(q, ref)
	v, err := s.open(ref, q)
	if err != nil {
		return svc.LogPage{}, err
	}
	defer v.close()
	var page svc.LogPage
	for n := 0; ; n++ {
		if n%1000 == 0 && ctx.Err() != nil {
			return page, context.Cause(ctx)
		}
		entries, ok, err := v.next()
		if err != nil || !ok {
			page.Cursor = v.merge.position().cursor()
			return page, err
		}
		page.Entries = append(page.Entries, entries...)
		if extra := len(page.Entries) - q.Tail; extra >= 0 && q.Cursor != "" {
			page.Cursor = v.merge.position().cursor()
			return page, nil
		} else if extra > 0 {
			page.Entries = page.Entries[extra:]
		}
	}
}

// Follow passes the entries that Read returns to emit, and then each new one, until ctx
// ends, emit or target fails, or Stop is called; only errors of reading, emit and target
// are returned. When the target changes, the entries of the new version follow. idle is
// called when there is nothing new.
func (s *Service) Follow(
	ctx context.Context, target func(context.Context) (svc.Ref, error), q svc.LogQuery, emit func(svc.LogEntry) error, idle func() error,
) error {
	ref, err := target(ctx)
	if err != nil {
		return err
	}
	v, err := s.begin(ctx, ref, q, emit)
	if err != nil {
		return err
	}
	defer func() { v.close() }()
	asked := time.Now()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		if err := v.drain(ctx, emit); err != nil {
			return err
		}
		if err := idle(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.closed:
			return nil
		case <-tick.C:
		}
		if time.Since(asked) < targetEvery {
			continue
		}
		asked = time.Now()
		next, err := target(ctx)
		if err != nil {
			return errors.Join(err, v.drain(ctx, emit))
		}
		if next != ref {
			later := q
			later.Cursor, later.Tail, later.Since = "", 0, asked.Add(-2*targetEvery)
			old := v
			if v, err = s.open(next, later); err != nil {
				v = old
				return err
			}
			ref = next
			old.close()
		}
	}
}

// begin emits what Read returns and continues after it.
func (s *Service) begin(ctx context.Context, ref svc.Ref, q svc.LogQuery, emit func(svc.LogEntry) error) (*view, error) {
	if q = cursorOf(q, ref); q.Cursor == "" {
		page, err := s.Read(ctx, ref, q)
		if err != nil {
			return nil, err
		}
		for _, e := range page.Entries {
			if err := emit(e); err != nil {
				return nil, err
			}
		}
		q.Cursor = page.Cursor
	}
	return s.open(ref, q)
}

// cursorOf drops the cursor of another version: production has changed.
func cursorOf(q svc.LogQuery, ref svc.Ref) svc.LogQuery {
	if at, err := readCursor(q.Cursor); err == nil && at.version != ref.Version {
		q.Cursor = ""
	}
	return q
}

// view reads the entries of a version that a query selects.
type view struct {
	ref     svc.Ref
	merge   *merge
	filter  *filter
	sources *sources
}

func (s *Service) open(ref svc.Ref, q svc.LogQuery) (*view, error) {
	if err := Check(q); err != nil {
		return nil, err
	}
	v := &view{ref: ref, filter: newFilter(q), sources: s.sources}
	tail := q.Tail
	if !v.filter.plain() {
		tail = 0
	}
	at, err := start(s.dir(ref), ref.Version, q.Since, tail)
	if err != nil {
		return nil, err
	}
	if q.Cursor != "" {
		if at, err = readCursor(q.Cursor); err != nil {
			return nil, err
		}
	}
	v.merge = newMerge(s.dir(ref), at)
	if v.filter.joins {
		err = v.holdBefore(s.dir(ref), at)
	}
	return v, err
}

// holdBefore holds the last entries before at, which may belong to invocations after it.
func (v *view) holdBefore(dir string, at position) error {
	r := ring.NewReader(dir, svc.LogsOfWorker, at.worker-min(at.worker, heldBefore))
	defer r.Close()
	for {
		n, data, ok, err := r.Next()
		if err != nil || !ok || n > at.worker {
			return err
		}
		if l, ok := svc.ParseLog(data); ok && l.RequestID != "" {
			v.filter.hold(l)
		}
	}
}

// next reads one entry and returns those that are selected by now; ok is false at the end.
func (v *view) next() (list []svc.LogEntry, ok bool, err error) {
	l, ok, err := v.merge.next()
	if err != nil || !ok {
		return nil, false, err
	}
	lines := v.filter.add(l)
	if len(lines) == 0 {
		return nil, true, nil
	}
	cursor := v.merge.position().cursor()
	for _, l := range lines {
		l.Message = v.sources.apply(v.ref, l.Message)
		list = append(list, svc.LogEntry{LogLine: l, Version: v.ref.Version, Cursor: cursor})
	}
	return list, true, nil
}

// drain emits what there is now.
func (v *view) drain(ctx context.Context, emit func(svc.LogEntry) error) error {
	for ctx.Err() == nil {
		entries, ok, err := v.next()
		if err != nil || !ok {
			return err
		}
		for _, e := range entries {
			if err := emit(e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v *view) close() { _ = v.merge.close() } // files that were read
