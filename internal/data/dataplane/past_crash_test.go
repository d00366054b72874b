package dataplane_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/s3/s3test"
	"github.com/svcctl/svcctl/internal/lib/backoff"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/crashtest"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// pastLives are the lives of a version and its child on one store.
type pastLives struct {
	t      *testing.T
	dir    string
	store  *s3test.Store
	c      dataplane.Config // of the version, to read
	record pastRecord
	lives  int
	gone   atomic.Int64
}

func newPastLives(t *testing.T) *pastLives {
	t.Helper()
	w := &pastLives{t: t, dir: t.TempDir(), store: s3test.Start(t, s3test.Command()), record: pastRecord{map[string]*pastLog{}, map[string]int64{}}}
	p := w.role(pastRole{Version: "v1", Dir: "reader"})
	w.c = must(p.config(slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))))
	w.c.Now = nil
	return w
}

func (w *pastLives) role(p pastRole) pastRole {
	d := w.store.Direct
	p.Store.Endpoint, p.Store.Access, p.Store.Secret = d.Endpoint, d.AccessKey, d.SecretKey.Reveal()
	p.Dir, p.Actors = filepath.Join(w.dir, p.Dir), 4
	return p
}

// live runs one life, for a time or until it is killed then, and notes what it said.
func (w *pastLives) live(p pastRole, kill bool) (from, to time.Time) {
	w.t.Helper()
	w.lives++
	p.Life = w.lives
	p = w.role(p)
	run := p.For
	if kill {
		p.For = time.Hour
	}
	text := string(must(json.Marshal(p))) //nolint:musttag // both ends are this test
	from = time.Now()
	l := svctest.Start(w.t, pastRoleName, text)
	if !l.Await(w.t, "READY") {
		w.t.Fatalf("life %d: %s", p.Life, l.Stderr())
	}
	if kill {
		<-time.After(run)
		l.Kill()
	}
	<-l.Ended()
	to = time.Now()
	lines := l.Lines()
	for _, line := range lines {
		w.record.note(line)
	}
	if last := lines[len(lines)-1]; !kill && last != "DONE" {
		w.t.Fatalf("life %d ended with %s\n%s", p.Life, last, l.Stderr())
	}
	return from, to
}

// note adds a line of a life.
func (r *pastRecord) note(line string) {
	var what, actor string
	var n int
	var us int64
	if k, _ := fmt.Sscanf(line, "%s %s %d %d", &what, &actor, &n, &us); k < 4 {
		return
	}
	log := r.logs[actor]
	if log == nil {
		log = &pastLog{[]int64{0}, []int64{0}}
		r.logs[actor] = log
	}
	if what == "B" {
		log.began, log.acked = append(log.began, us), append(log.acked, 0)
	} else {
		log.acked[n] = us
	}
}

// lose says that the machine of the last life is lost.
func (w *pastLives) lose(at time.Time) {
	for actor := range w.record.logs {
		if strings.HasPrefix(actor, fmt.Sprintf("v1.%d.", w.lives)) {
			w.record.lost[actor] = at.UnixMicro()
		}
	}
}

// sweep collects until ctx ends.
func (w *pastLives) sweep(ctx context.Context, keep branch.History) {
	for backoff.Sleep(ctx, time.Second) == nil {
		r, err := w.c.Branches.Sweep(ctx, "p", branch.SweepOptions{History: keep})
		if err != nil {
			continue // another owner, or the end
		}
		w.gone.Add(int64(len(r.Gone)))
		for ref, err := range r.Broken {
			if !errors.Is(err, branch.ErrLost) {
				w.t.Errorf("sweep: %s is broken: %v", ref, err)
			}
		}
	}
}

// check forks random moments between two times, and returns how many have a point.
func (w *pastLives) check(what string, n int, r *rand.Rand, c dataplane.Config, keep branch.History, from, to time.Time) (found int) {
	w.t.Helper()
	past := must(dataplane.OpenPast(w.t.Context(), c, keep))
	var far []time.Duration
	for range n {
		at := from.Add(time.Duration(r.Int64N(int64(to.Sub(from)))))
		cut, err := past.Cut(w.t.Context(), at, keep)
		if errors.Is(err, dataplane.ErrNoHistory) {
			continue
		}
		if err != nil {
			w.t.Errorf("%s: cut at %v: %v", what, at, err)
			continue
		}
		far = append(far, at.Sub(cut.At))
		w.record.check(w.t, fmt.Sprintf("%s at %s", what, cut.At.Format("15:04:05.000")), contentOf(w.t, c.Bucket, cut.Databases), cut.At)
	}
	if slices.Sort(far); len(far) > 0 {
		w.t.Logf("%s: %d of %d moments have a point, %v before them in the median, %v at most; %d points, %d hidden",
			what, len(far), n, far[len(far)/2], far[len(far)-1], len(past.Points()), past.Hidden())
	}
	return len(far)
}

// TestPast forks random moments of a version and compares them with the record of its writes: through compaction,
// sweeps, kills, a lost machine, one whose time is behind, an archive, and a child of the past.
func TestPast(t *testing.T) {
	t.Parallel()
	r, unit := crashtest.Rand(t), crashtest.Duration(time.Second)
	w := newPastLives(t)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); w.sweep(ctx, keepAll) }()
	moments := int(5 + 5*unit/time.Second)

	from, _ := w.live(pastRole{Version: "v1", Dir: "a", Node: "h1", For: 2 * unit}, true)
	w.live(pastRole{Version: "v1", Dir: "a", Node: "h1", For: unit, Archive: true}, false)
	_, killed := w.live(pastRole{Version: "v1", Dir: "a", Node: "h1", For: 2 * unit}, true)
	w.lose(killed)
	_, end := w.live(pastRole{Version: "v1", Dir: "b", Node: "h2", For: unit}, true)
	if found := w.check("moment", 2*moments, r, w.c, keepAll, from, end); found < moments {
		t.Errorf("only %d moments have a point", found)
	}
	known := must(dataplane.OpenPast(t.Context(), w.c, keepAll)).Points()
	end = known[len(known)-1].Time() // what the next machine writes seems to follow it
	// The time of the third machine is behind all that was written. Its points are right, at times that are wrong.
	w.live(pastRole{Version: "v1", Dir: "c", Node: "h3", For: unit, Behind: time.Hour}, false)
	w.check("moment before", moments, r, w.c, keepAll, from, end)

	past := must(dataplane.OpenPast(t.Context(), w.c, keepAll))
	cut := must(past.Cut(t.Context(), from.Add(end.Sub(from)/3), keepAll))
	forked := time.Now()
	child := w.c
	child.Ref.Version, child.Parent = "v2", "v1"
	must(w.c.Branches.Fork(t.Context(), branch.Fork{Parent: w.c.Ref, Child: child.Ref, ID: "f", At: forked, Cuts: cut.Databases}))
	parents := w.record
	w.record = pastRecord{map[string]*pastLog{}, map[string]int64{}}
	_, childEnd := w.live(pastRole{Version: "v2", Parent: "v1", Dir: "d", Node: "h1", For: unit}, false)
	if w.check("moment of the child", moments, r, child, keepAll, forked, childEnd) == 0 {
		t.Error("the child has no point")
	}
	w.record = parents
	w.check("moment of the child before it was forked", moments/2, r, child, keepAll, from, end)

	stop()
	<-done
	short := branch.History{Minutes: 24 * time.Hour}
	for range 3 {
		<-time.After(2 * time.Second) // the grace
		rep := must(w.c.Branches.Sweep(t.Context(), "p", branch.SweepOptions{History: short}))
		w.gone.Add(int64(len(rep.Gone)))
	}
	w.check("moment by minutes", moments/2, r, w.c, short, from, end)
	t.Logf("sweeps deleted %d objects", w.gone.Load())
	if err := w.c.Branches.Destroy(t.Context(), svc.Ref{Project: "p", Version: "v2"}); err != nil {
		t.Error(err)
	}
}
