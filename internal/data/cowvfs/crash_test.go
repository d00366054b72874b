package cowvfs_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/superfly/ltx"
	"go.uber.org/goleak"

	"github.com/svcctl/svcctl/internal/test/crashtest"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "cowvfs")
	if err == nil {
		base.path = filepath.Join(dir, "base.db")
	}
	svctest.Main(m, map[string]svctest.Role{crashRole: runCrashRole}, goleak.Cleanup(func(code int) {
		os.RemoveAll(dir)
		os.Exit(code)
	}))
}

// TestCrash runs processes that write to one database and ship its segments, and kills them at
// random. Whenever a process reported the transaction up to which everything was shipped, the
// test builds a database of the segments up to it, which must be sound and equal. The next
// process must find every acknowledged write.
func TestCrash(t *testing.T) {
	t.Parallel()
	testCrash(t, false)
}

// TestCrashLazy is TestCrash with a file whose pages come from a slow source.
func TestCrashLazy(t *testing.T) {
	t.Parallel()
	testCrash(t, true)
}

func testCrash(t *testing.T, lazy bool) {
	r := crashtest.Rand(t)
	var sum tally
	// On a loaded machine most lives end before they have shipped anything: the short
	// form continues until enough were verified.
	end := time.Now().Add(crashtest.Duration(3 * time.Second))
	for (time.Now().Before(end) || sum.cuts < fewestCuts && sum.lives < mostLives) && !t.Failed() {
		l := newLineage(t, lazy)
		for lives := 3 + r.IntN(4); lives > 0 && !t.Failed(); lives-- {
			l.live(t, r, &sum)
		}
		l.close(t)
	}
	t.Logf("%d lives, %d killed, %d began with missing pages, %d cuts and %d segments verified, %d writes acknowledged",
		sum.lives, sum.killed, sum.partial, sum.cuts, sum.segments, sum.acks)
	if sum.cuts == 0 {
		t.Error("no cut was verified")
	}
}

// What the short form verifies at least, and when it gives up.
const (
	fewestCuts = 5
	mostLives  = 1000
)

type tally struct {
	lives, killed, partial, cuts, segments, acks int
	dry                                          int // lives in a row without a verified cut
}

// lineage is one database over all its lives, and its folder of segments.
type lineage struct {
	dir, store string
	base       string   // the image of a lazy file, or ""
	at         ltx.TXID // what rebuilt.db has
	acked      int
}

func newLineage(t *testing.T, lazy bool) *lineage {
	t.Helper()
	l := &lineage{dir: t.TempDir(), store: t.TempDir()}
	if lazy {
		l.base, l.at = filepath.Join(l.dir, "base.db"), 1
		copyBase(t, l.base)
		b, err := os.ReadFile(l.base)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(l.rebuilt(), b, 0o600); err != nil {
			t.Fatal(err)
		}
	} else if err := os.WriteFile(l.rebuilt(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *lineage) rebuilt() string { return filepath.Join(l.dir, "rebuilt.db") }

// close merges all segments into one, as compaction does, which must give the
// same database, and removes the files.
func (l *lineage) close(t *testing.T) {
	from := ltx.TXID(0)
	if l.base != "" {
		from = 1
	}
	if l.at > from {
		want, err := crashtest.Sound(l.rebuilt())
		if err != nil {
			t.Error(err)
		}
		path := filepath.Join(l.dir, "merged.db")
		if err := mergeAll(t.Context(), l.store, from, l.at, l.base, path); err != nil {
			t.Errorf("merging: %v", err)
		}
		if got, err := crashtest.Sound(path); err != nil || got != want {
			t.Errorf("merged segments give %s, %v, not %s", got, err, want)
		}
	}
	for _, dir := range []string{l.dir, l.store} {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	}
}

// live runs one process, kills it at random, and checks its output. Now and then it kills the
// process before it has begun. A slow machine gives its processes longer lives.
func (l *lineage) live(t *testing.T, r *rand.Rand, sum *tally) {
	p := svctest.Start(t, crashRole, filepath.Join(l.dir, "v.db"), l.store, l.base, fmt.Sprint(r.Uint64()))
	early := time.AfterFunc(time.Duration(r.IntN(30000))*time.Millisecond, func() { p.Signal(syscall.SIGKILL) })
	span := time.Duration(10+r.IntN(900)) * time.Millisecond * time.Duration(1+sum.dry/4)
	if p.Await(t, "START") && early.Stop() {
		select {
		case <-time.After(span):
		case <-p.Ended():
		}
	}
	p.Kill()
	sum.lives++
	if p.Killed() {
		sum.killed++
	} else if !p.State().Success() {
		t.Errorf("a life ended with %v: %s", p.State(), p.Stderr())
	}
	before := sum.cuts
	if l.verify(t, p.Lines(), sum); sum.cuts > before {
		sum.dry = 0
	} else {
		sum.dry++
	}
}

func (l *lineage) verify(t *testing.T, said []string, sum *tally) {
	for i, line := range said {
		var n int
		var id uint64
		var h string
		switch word, rest, _ := strings.Cut(line, " "); word {
		case "START":
			if fmt.Sscan(rest, &n, &id); n < l.acked {
				t.Errorf("write %d was acknowledged, the next life finds %d", l.acked, n)
			}
			if id > 0 {
				sum.partial++
			}
		case "ACK":
			if fmt.Sscan(rest, &n); n > l.acked {
				l.acked, sum.acks = n, sum.acks+1
			}
		case "CUT":
			if _, err := fmt.Sscan(rest, &id, &h); err == nil {
				l.cut(t, ltx.TXID(id), h, sum)
			}
		default:
			if i < len(said)-1 { // the last line may be half of one, cut by the kill
				t.Errorf("the process says %s", line)
			}
		}
	}
}

// cut brings rebuilt.db to transaction id and compares.
func (l *lineage) cut(t *testing.T, id ltx.TXID, want string, sum *tally) {
	out, err := os.OpenFile(l.rebuilt(), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	for ; l.at < id; l.at++ {
		sum.segments++
		if err := apply(out, filepath.Join(l.store, ltx.FormatFilename(l.at+1, l.at+1))); err != nil {
			t.Errorf("segment %d: %v", l.at+1, err)
		}
	}
	out.Close()
	got, err := crashtest.Sound(l.rebuilt())
	if err != nil {
		t.Errorf("at transaction %s: %v", id, err)
	}
	if got != want {
		t.Errorf("at transaction %s the segments have %s, the database had %s", id, got, want)
	}
	sum.cuts++
}
