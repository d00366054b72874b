package watch

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fed is a source that a test feeds.
type fed struct{ out chan string }

func (f fed) events() <-chan string { return f.out }
func (f fed) also([]string)         {}
func (f fed) close()                {}

func feed(t *testing.T) (*watcher, fed) { return feedBusy(t, func() bool { return false }) }

func feedBusy(t *testing.T, busy func() bool) (*watcher, fed) {
	t.Helper()
	f := fed{make(chan string)}
	w := begin("/w", f, busy)
	t.Cleanup(w.Close)
	return w, f
}

// What belongs to one save is one batch, which comes soon.
func TestBatchOfASave(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, f := feed(t)
		began := time.Now()
		for _, p := range []string{"/w/b", "/w/c", "/w/a", "/w/b~", "/w/b"} {
			f.out <- p
			time.Sleep(time.Millisecond)
		}
		if diff := cmp.Diff([]string{"/w/a", "/w/b", "/w/c"}, (<-w.out).Paths); diff != "" {
			t.Error(diff)
		}
		if took := time.Since(began); took > 20*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
}

// A checkout is one batch, even if it takes longer than the pause that ends a save.
func TestBatchOfACheckout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, f := feed(t)
		var writer sync.WaitGroup
		defer writer.Wait()
		writer.Go(func() {
			for i := range 40 {
				f.out <- fmt.Sprintf("/w/%02d", i)
				time.Sleep(7 * time.Millisecond)
			}
		})
		if n := len((<-w.out).Paths); n != 40 {
			t.Errorf("%d files", n)
		}
	})
}

// What changes while another program is busy is one batch, after its end.
func TestBatchOfABusyProgram(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		w, f := feedBusy(t, func() bool { return time.Since(began) < 3*time.Second })
		var writer sync.WaitGroup
		defer writer.Wait()
		writer.Go(func() {
			for i := range 5 {
				f.out <- fmt.Sprintf("/w/%d", i)
				time.Sleep(500 * time.Millisecond)
			}
		})
		if n := len((<-w.out).Paths); n != 5 {
			t.Errorf("%d files", n)
		}
		if took := time.Since(began); took < 3*time.Second || took > 3*time.Second+busyPause+quiet {
			t.Errorf("it took %v", took)
		}
	})
}

// A file that is emptied and then written is one batch, with its content; one that stays empty is one
// too.
func TestBatchOfAnEmptiedFile(t *testing.T) {
	t.Parallel()
	root := realDir(t)
	written, empty := filepath.Join(root, "written"), filepath.Join(root, "empty")
	synctest.Test(t, func(t *testing.T) {
		f := fed{make(chan string)}
		w := begin(root, f, func() bool { return false })
		t.Cleanup(w.Close)
		write(t, written, "")
		f.out <- written
		var writer sync.WaitGroup
		defer writer.Wait()
		writer.Go(func() {
			time.Sleep(emptyLimit / 2)
			write(t, written, "content")
			f.out <- written
		})
		began := time.Now()
		<-w.out
		if took := time.Since(began); took < emptyLimit/2 || took > emptyLimit {
			t.Errorf("a file that is written later: %v", took)
		}
		write(t, empty, "")
		began = time.Now()
		f.out <- empty
		<-w.out
		if took := time.Since(began); took < emptyLimit || took > emptyLimit+busyPause {
			t.Errorf("a file that stays empty: %v", took)
		}
	})
}

// Settle waits for the end of a busy program, or of its context.
func TestSettle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		w, _ := feedBusy(t, func() bool { return time.Since(began) < 3*time.Second })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if w.Settle(ctx); time.Since(began) != time.Second {
			t.Errorf("it waited %v after its context", time.Since(began)-time.Second)
		}
		if w.Settle(t.Context()); time.Since(began) != 3*time.Second {
			t.Errorf("it took %v", time.Since(began))
		}
	})
}

// A program that writes all the time does not keep a batch from ending.
func TestBatchEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, f := feed(t)
		stop := make(chan struct{})
		var writer sync.WaitGroup
		defer writer.Wait()
		defer close(stop)
		writer.Go(func() {
			for i := 0; ; i++ {
				select {
				case f.out <- fmt.Sprintf("/w/%d", i):
				case <-stop:
					return
				}
				time.Sleep(5 * time.Millisecond)
			}
		})
		began := time.Now()
		<-w.out
		if took := time.Since(began); took > mostOfMany+10*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
}

// What changes while nothing receives is in one batch, and nothing is lost.
func TestBatchWhileBusy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, f := feed(t)
		f.out <- "/w/a"
		time.Sleep(time.Minute)
		f.out <- "/w/b"
		time.Sleep(time.Minute)
		if diff := cmp.Diff([]string{"/w/a", "/w/b"}, (<-w.out).Paths); diff != "" {
			t.Error(diff)
		}
	})
}

func TestEntered(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"/w": true, "/w/a": true, "/w/a/b": true, "/w/.dev.vars": true, "/w/.git/index": false, "/w/node_modules/x/y.js": false,
		"/w/a/.cache/x": false, "/v/a": false, "/ww": false, "/w/a/node_modules/x": false, "/w/..a": true,
	} {
		if got := entered("/w", path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}
