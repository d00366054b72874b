package obs

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// recentBeat is how often an idle follower is asked for a sign of life.
const recentBeat = 5 * time.Second

// Read returns the lines that q selects: the first q.Tail ones after its cursor, or else the
// last q.Tail ones. It returns BadRequest for a query that cannot be meant.
func (r *Recent) Read(_ context.Context, _ svc.Ref, q svc.LogQuery) (svc.LogPage, error) {
	page, _, err := r.read(q)
	return page, err
}

// Follow passes the entries that Read returns to emit, and each later one, until ctx ends,
// emit or idle fails, or Stop is called. There is one log, so target is not called.
func (r *Recent) Follow(
	ctx context.Context, _ func(context.Context) (svc.Ref, error), q svc.LogQuery, emit func(svc.LogEntry) error, idle func() error,
) error {
	beat := time.NewTicker(recentBeat)
	defer beat.Stop()
	for {
		page, changed, err := r.read(q)
		if err != nil {
			return err
		}
		for _, e := range page.Entries {
			if err := emit(e); err != nil {
				return err
			}
		}
		if err := idle(); err != nil {
			return err
		}
		q.Cursor, q.Tail = page.Cursor, recentLines
		select {
		case <-ctx.Done():
			return nil
		case <-r.closed:
			return nil
		case <-beat.C:
		case <-changed:
		}
	}
}

// read is Read. changed is closed by the first line after it.
func (r *Recent) read(q svc.LogQuery) (page svc.LogPage, changed <-chan struct{}, err error) {
	wanted, err := recentFilter(q)
	if err != nil {
		return page, nil, err
	}
	after, err := r.after(q.Cursor)
	if err != nil {
		return page, nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	first := r.next - uint64(len(r.lines))
	if q.Cursor != "" && after+1 < first {
		page.Entries = append(page.Entries, r.entry(first-1, svc.LogLine{
			Time: r.lines[0].Time, Level: "warn", Source: svc.LogGap, Message: fmt.Sprintf("%d entries are no longer kept", first-after-1),
		}))
	}
	page.Cursor = r.cursor(r.next - 1)
	for i, l := range r.lines {
		n := first + uint64(i)
		if n <= after || !wanted(l) {
			continue
		}
		if q.Cursor != "" && len(page.Entries) == q.Tail {
			page.Cursor = page.Entries[len(page.Entries)-1].Cursor
			break
		}
		page.Entries = append(page.Entries, r.entry(n, l))
	}
	page.Entries = slices.Clone(page.Entries[max(len(page.Entries)-q.Tail, 0):])
	return page, r.changed, nil
}

// recentFilter returns whether q selects a line.
func recentFilter(q svc.LogQuery) (func(svc.LogLine) bool, error) {
	levels := []string{"debug", "info", "warn", "error"}
	least := slices.Index(levels, q.Level)
	if q.Level != "" && least < 0 {
		return nil, svc.Errorf(svc.BadRequest, svc.CodeInvalidParameter, "the parameter level must be debug, info, warn or error")
	}
	search := strings.ToLower(q.Search)
	return func(l svc.LogLine) bool {
		return slices.Index(levels, l.Level) >= least && !l.Time.Before(q.Since) && strings.Contains(strings.ToLower(l.Message), search)
	}, nil
}

func (r *Recent) entry(n uint64, l svc.LogLine) svc.LogEntry {
	return svc.LogEntry{LogLine: l, Cursor: r.cursor(n)}
}

func (r *Recent) cursor(n uint64) string { return r.process + "." + strconv.FormatUint(n, 10) }

// after returns the number in a cursor; 0 for a cursor of another process, whose lines came
// before all of this one.
func (r *Recent) after(cursor string) (uint64, error) {
	if cursor == "" {
		return 0, nil
	}
	process, number, _ := strings.Cut(cursor, ".")
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return 0, svc.Errorf(svc.BadRequest, svc.CodeInvalidCursor, "the cursor does not belong to this log").WithHint("start again without a cursor")
	}
	if process != r.process {
		return 0, nil
	}
	return n, nil
}
