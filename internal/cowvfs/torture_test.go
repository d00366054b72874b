package cowvfs_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/superfly/ltx"
)

var (
	tortureTime = flag.Duration("torture.duration", 3*time.Second, "how long each torture test goes on")
	tortureSeed = flag.Uint64("torture.seed", 0, "seed of the torture tests; 0 takes one of the clock")
)

const victimEnv = "SVC_COWVFS_VICTIM"

// TestMain runs a victim of the torture when this process is one.
func TestMain(m *testing.M) {
	if args := os.Getenv(victimEnv); args != "" {
		if err := victim(context.Background(), strings.Fields(args)); err != nil {
			fmt.Println("FAIL", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	dir, err := os.MkdirTemp("", "cowvfs")
	if err == nil {
		base.path = filepath.Join(dir, "base.db")
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// TestTorture lets processes write to one database, ship what is captured, and
// die at random moments without a word. Whenever one said at which transaction
// the store had all it wrote, a database is built of what was shipped up to it:
// it must be sound and equal. No write that was acknowledged may be missing in
// the next life.
func TestTorture(t *testing.T) {
	t.Parallel()
	torture(t, false)
}

// TestTortureLazy does it with a file whose pages come from a slow source.
func TestTortureLazy(t *testing.T) {
	t.Parallel()
	torture(t, true)
}

func torture(t *testing.T, lazy bool) {
	seed := *tortureSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	var sum tally
	// On a loaded machine most lives end before they have shipped anything: the
	// short form goes on until some were verified.
	end := time.Now().Add(*tortureTime)
	for (time.Now().Before(end) || sum.cuts < fewestCuts && sum.lives < mostLives) && !t.Failed() {
		w := newWorld(t, lazy)
		for lives := 3 + r.IntN(4); lives > 0 && !t.Failed(); lives-- {
			w.live(t, r, &sum)
		}
		w.close(t)
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

type tally struct{ lives, killed, partial, cuts, segments, acks int }

// world is one database over all its lives, and its store.
type world struct {
	dir, store string
	base       string   // the image behind a lazy file, or ""
	at         ltx.TXID // what rebuilt.db has
	acked      int
}

func newWorld(t *testing.T, lazy bool) *world {
	t.Helper()
	w := &world{dir: t.TempDir(), store: t.TempDir()}
	if lazy {
		w.base, w.at = filepath.Join(w.dir, "base.db"), 1
		copyBase(t, w.base)
		b, err := os.ReadFile(w.base)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(w.rebuilt(), b, 0o600); err != nil {
			t.Fatal(err)
		}
	} else if err := os.WriteFile(w.rebuilt(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) rebuilt() string { return filepath.Join(w.dir, "rebuilt.db") }

// close merges all segments into one, as compaction does, which must give the
// same database, and removes the world.
func (w *world) close(t *testing.T) {
	from := ltx.TXID(0)
	if w.base != "" {
		from = 1
	}
	if w.at > from {
		want, err := check(w.rebuilt())
		if err != nil {
			t.Error(err)
		}
		path := filepath.Join(w.dir, "merged.db")
		if err := mergeAll(t.Context(), w.store, from, w.at, w.base, path); err != nil {
			t.Errorf("merging: %v", err)
		}
		if got, err := check(path); err != nil || got != want {
			t.Errorf("merged segments give %s, %v, not %s", got, err, want)
		}
	}
	for _, dir := range []string{w.dir, w.store} {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	}
}

// live runs one process and checks what it says.
func (w *world) live(t *testing.T, r *rand.Rand, sum *tally) {
	base := w.base
	if base == "" {
		base = "-"
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), victimEnv+"="+fmt.Sprint(filepath.Join(w.dir, "v.db"), " ", w.store, " ", base, " ", r.Uint64()))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	killer := time.AfterFunc(time.Duration(r.IntN(30000))*time.Millisecond, func() { cmd.Process.Kill() }) // now and then before it has begun
	span := time.Duration(10+r.IntN(900)) * time.Millisecond
	var said []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if said = append(said, lines.Text()); strings.HasPrefix(lines.Text(), "START") {
			killer.Reset(span)
		}
	}
	err = cmd.Wait()
	killer.Stop()
	sum.lives++
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signal() == syscall.SIGKILL {
		sum.killed++
	} else if err != nil {
		t.Errorf("a life ended with %v", err)
	}
	w.verify(t, said, sum)
}

func (w *world) verify(t *testing.T, said []string, sum *tally) {
	for i, line := range said {
		var n int
		var id uint64
		var h string
		switch word, rest, _ := strings.Cut(line, " "); word {
		case "START":
			if fmt.Sscan(rest, &n, &id); n < w.acked {
				t.Errorf("write %d was acknowledged, the next life finds %d", w.acked, n)
			}
			if id > 0 {
				sum.partial++
			}
		case "ACK":
			if fmt.Sscan(rest, &n); n > w.acked {
				w.acked, sum.acks = n, sum.acks+1
			}
		case "CUT":
			if _, err := fmt.Sscan(rest, &id, &h); err == nil {
				w.cut(t, ltx.TXID(id), h, sum)
			}
		default:
			if i == len(said)-1 && !strings.HasPrefix(line, "FAIL") {
				continue // half a line, cut by the kill
			}
			t.Errorf("the victim says %s", line)
		}
	}
}

// cut brings rebuilt.db to transaction id and compares.
func (w *world) cut(t *testing.T, id ltx.TXID, want string, sum *tally) {
	out, err := os.OpenFile(w.rebuilt(), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	for ; w.at < id; w.at++ {
		sum.segments++
		if err := apply(out, filepath.Join(w.store, ltx.FormatFilename(w.at+1, w.at+1))); err != nil {
			t.Errorf("segment %d: %v", w.at+1, err)
		}
	}
	out.Close()
	got, err := check(w.rebuilt())
	if err != nil {
		t.Errorf("at transaction %s: %v", id, err)
	}
	if got != want {
		t.Errorf("at transaction %s the store has %s, the database had %s", id, got, want)
	}
	sum.cuts++
}
