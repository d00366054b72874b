package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/svcctl/svcctl/bench/internal/load"
	"github.com/svcctl/svcctl/bench/internal/ours"
	"github.com/svcctl/svcctl/pkg/api"
)

const (
	births     = 15 // of each kind, by turns
	rowsPerMB  = 800
	fillRows   = 8000
	rootGoal   = 1.3   // times a root's
	flatGoal   = 1.5   // times the smallest parent's
	forkGoal   = 10.0  // ms
	firstGoal  = 100.0 // ms
	wakeGoal   = 200.0 // ms
	writeGoal  = 100.0 // KB
	copiedGoal = 0.0
)

// family is a project with parents of two sizes, on a store with a latency.
type family struct {
	store        *ours.Store
	daemon       *ours.Daemon
	uploads      *ours.Uploads
	small, large relative
	latency      time.Duration
	made         int
}

// relative is a parent. The one without a name stands for no parent.
type relative struct {
	id, size string
	mb       int
}

// branching: versions that branch off a parent of 1 MB and of 1 GB, and their
// parents' archives, with everything on the way to the store 1 and 20 ms slower.
func branching(ctx context.Context, b *bench) ([]row, error) {
	f, err := newFamily(ctx, b)
	if err != nil {
		return nil, err
	}
	defer f.store.Stop()
	defer f.daemon.Stop()
	var rows []row
	for _, phase := range []func(context.Context) ([]row, error){f.live, f.archived} {
		for _, f.latency = range []time.Duration{time.Millisecond, 20 * time.Millisecond} {
			f.store.Latency(f.latency)
			more, err := phase(ctx)
			if err != nil {
				return nil, err
			}
			rows = append(rows, more...)
		}
		f.store.Latency(0)
		if err := f.archiveAll(ctx); err != nil {
			return nil, err
		}
	}
	copied, err := f.metric(ctx, "svc_branch_bytes_copied")
	return append(rows, row{what: "`svc_branch_bytes_copied`", ours: fmt.Sprint(copied)}.atMost(copied, copiedGoal, "")), err
}

// newFamily deploys the parents and fills them.
func newFamily(ctx context.Context, b *bench) (f *family, err error) {
	f = &family{small: relative{"small", "1 MB", 1}, large: relative{"large", fmt.Sprint(b.large, " MB"), b.large}}
	if f.store, err = b.program.Store(ctx); err != nil {
		return nil, err
	}
	if f.daemon, err = b.program.StartOn(ctx, f.store); err != nil {
		f.store.Stop()
		return nil, err
	}
	if f.uploads, err = f.daemon.Uploads(ctx, "branch"); err == nil {
		_, err = f.uploads.Deploy(ctx, "production") // so that the parents can be archived
	}
	for _, p := range []relative{f.small, f.large} {
		if err == nil {
			err = f.fill(ctx, p)
		}
	}
	if err != nil {
		f.daemon.Stop()
		f.store.Stop()
	}
	return f, err
}

func (f *family) fill(ctx context.Context, p relative) error {
	if err := f.uploads.Upload(ctx, p.id); err != nil {
		return err
	}
	v, err := f.uploads.Create(ctx, p.id, "")
	if err != nil {
		return err
	}
	target, err := f.uploads.Preview(v)
	if err == nil {
		err = load.Once(ctx, target, "/make")
	}
	for from := 0; from < p.mb*rowsPerMB && err == nil; from += fillRows {
		err = load.Once(ctx, target, fmt.Sprintf("/fill?from=%d&to=%d", from+1, min(from+fillRows, p.mb*rowsPerMB)))
	}
	return err
}

// birth is what was measured of new versions of one kind.
type birth struct{ ready, first, written []float64 }

// born gives the measuring of a new version: from the POST to ready, by the
// clock of the service; its first answer; and the bytes that were written to the
// store for both. A version without a parent has no rows to ask for.
func (f *family) born(ctx context.Context, p relative, all *birth) subject {
	return func() (float64, error) {
		f.made++
		id := fmt.Sprint("v", f.made)
		if err := f.uploads.Upload(ctx, id); err != nil {
			return 0, err
		}
		written := f.store.Written()
		v, err := f.uploads.Create(ctx, id, p.id)
		if err != nil {
			return 0, err
		}
		first, err := f.firstAnswer(ctx, v, p)
		if err != nil {
			return 0, err
		}
		ready := milliseconds(v.ReadyAt.Sub(v.CreatedAt.Time))
		all.ready, all.first = append(all.ready, ready), append(all.first, first)
		all.written = append(all.written, float64(f.store.Written()-written)/1000)
		_, err = f.daemon.Client.Destroy(ctx, f.uploads.Project(), id)
		return ready, err
	}
}

func (f *family) firstAnswer(ctx context.Context, v api.Version, p relative) (float64, error) {
	target, err := f.uploads.Preview(v)
	if err != nil {
		return 0, err
	}
	path := "/"
	if p.id != "" {
		path = fmt.Sprintf("/row?k=%d", p.mb*rowsPerMB/2)
	}
	began := time.Now()
	err = load.Once(ctx, target, path)
	return milliseconds(time.Since(began)), err
}

// live: the parents run.
func (f *family) live(ctx context.Context) ([]row, error) {
	var root, small, large birth
	forked, err := f.forkTime(ctx, func() error {
		_, err := alternate(births, f.born(ctx, relative{}, &root), f.born(ctx, f.small, &small), f.born(ctx, f.large, &large))
		return err
	})
	if err != nil {
		return nil, err
	}
	where := slower(f.latency)
	rows := []row{
		compared("POST to `ready`, child of a running version of "+f.large.size+where, large.ready, "a root", root.ready, rootGoal),
		compared("the same, beside a small parent's"+where, large.ready, "of "+f.small.size, small.ready, flatGoal),
		compared("first answer of such a child"+where, large.first, "of "+f.small.size, small.first, 0),
		{what: "forks, mean of `svc_branch_seconds`" + where, ours: fmt.Sprintf("%.1f ms", forked)},
		row{what: "written to the store by fork, start and first answer" + where, ours: fmt.Sprintf("%.1f KB", median(large.written))}.
			atMost(median(large.written), writeGoal, " KB"),
	}
	if f.latency == time.Millisecond {
		rows[3] = rows[3].atMost(forked, forkGoal, " ms")
	}
	return rows, nil
}

// archived: the parents are in the store alone.
func (f *family) archived(ctx context.Context) ([]row, error) {
	var small, large birth
	figures, err := alternate(births, f.born(ctx, f.small, &small), f.born(ctx, f.large, &large), f.wake(ctx, f.small), f.wake(ctx, f.large))
	if err != nil {
		return nil, err
	}
	where := slower(f.latency)
	rows := []row{
		compared("POST to `ready`, child of an archived version of "+f.large.size+where, large.ready, "of "+f.small.size, small.ready, flatGoal),
		compared("first answer of such a child"+where, large.first, "of "+f.small.size, small.first, 0),
		compared("wake to the first answer, "+f.large.size+where, figures[3], f.small.size, figures[2], 0),
	}
	if f.latency == time.Millisecond {
		rows[1] = rows[1].atMost(median(large.first), firstGoal, " ms")
		rows[2] = rows[2].atMost(median(figures[3]), wakeGoal, " ms")
	}
	return rows, nil
}

// slower says how much longer each request to the store takes than it would.
func slower(latency time.Duration) string { return fmt.Sprintf(" (+%d ms)", latency.Milliseconds()) }

// compared is two times side by side; goal is for their ratio, 0 for none.
func compared(what string, times []float64, name string, beside []float64, goal float64) row {
	r := row{
		what: what, ours: fmt.Sprintf("%.0f ms", median(times)), beside: fmt.Sprintf("%s %.0f ms", name, median(beside)),
		ratio: fmt.Sprintf("%.2fx", ratio(times, beside)),
	}
	if goal > 0 {
		r = r.atMost(ratio(times, beside), goal, "x")
	}
	return r
}

// wake measures from the request that wakes an archived version to its first
// answer, and archives it again.
func (f *family) wake(ctx context.Context, p relative) subject {
	return func() (float64, error) {
		began := time.Now()
		v, err := f.daemon.Client.Wake(ctx, f.uploads.Project(), p.id)
		if err != nil {
			return 0, err
		}
		if _, err := f.firstAnswer(ctx, v, p); err != nil {
			return 0, err
		}
		took := milliseconds(time.Since(began))
		_, err = f.daemon.Client.Archive(ctx, f.uploads.Project(), p.id)
		return took, err
	}
}

func (f *family) archiveAll(ctx context.Context) error {
	for _, p := range []relative{f.small, f.large} {
		if _, err := f.daemon.Client.Archive(ctx, f.uploads.Project(), p.id); err != nil {
			return err
		}
	}
	return nil
}

// forkTime is the mean of the forks in do, in milliseconds.
func (f *family) forkTime(ctx context.Context, do func() error) (float64, error) {
	var figures [4]float64
	read := func(at int) (err error) {
		for i, name := range []string{"svc_branch_seconds_sum", "svc_branch_seconds_count"} {
			if figures[at+i], err = f.metric(ctx, name); err != nil {
				return err
			}
		}
		return nil
	}
	if err := read(0); err != nil {
		return 0, err
	}
	if err := do(); err != nil {
		return 0, err
	}
	err := read(2)
	return 1000 * (figures[2] - figures[0]) / (figures[3] - figures[1]), err
}

// metric reads one of the daemon's metrics.
func (f *family) metric(ctx context.Context, name string) (float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.daemon.Client.Server()+"/metrics", http.NoBody)
	if err != nil {
		return 0, err
	}
	resp, err := (&http.Client{Timeout: 10 * time.Second}).Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	return 0, fmt.Errorf("no metric %s", name)
}
