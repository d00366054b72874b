package watch

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What a framework's build writes is one batch in spite of its pauses, and what only its later
// steps read is in none.
func TestBuilt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, f := feed(t)
		w.Also([]string{"/w/.svelte-kit/cloudflare", "/w/.svelte-kit/output/server/index.js"})
		w.Built(Output{Dirs: []string{"/w/.svelte-kit/cloudflare"}})
		began := time.Now()
		f.out <- "/w/.svelte-kit/output/server/index.js"
		time.Sleep(time.Second)
		for _, name := range []string{".assetsignore", "index.html", "_worker.js"} {
			f.out <- "/w/.svelte-kit/cloudflare/" + name
			time.Sleep(quietBuilt - 50*time.Millisecond)
		}
		want := []string{"/w/.svelte-kit/cloudflare/.assetsignore", "/w/.svelte-kit/cloudflare/_worker.js", "/w/.svelte-kit/cloudflare/index.html"}
		if diff := cmp.Diff(want, (<-w.out).Paths); diff != "" {
			t.Error(diff)
		}
		if took := time.Since(began); took > time.Second+3*quietBuilt {
			t.Errorf("it took %v", took)
		}

		// A save of a source comes soon.
		began = time.Now()
		f.out <- "/w/src/index.ts"
		if batch := <-w.out; len(batch.Paths) != 1 || time.Since(began) > 20*time.Millisecond {
			t.Errorf("%v after %v", batch.Paths, time.Since(began))
		}

		// A build that never ends does not keep its batch from ending.
		began = time.Now()
		ended := make(chan struct{})
		go func() { <-w.out; close(ended) }()
		for open := true; open; {
			select {
			case <-ended:
				open = false
			default:
				f.out <- "/w/.svelte-kit/cloudflare/a"
				time.Sleep(100 * time.Millisecond)
			}
		}
		if took := time.Since(began); took > mostOfBuilt+200*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
}

// A batch waits for the files that a build writes last, and for those that it has deleted, but
// not for ever.
func TestBuiltLast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, f := feed(t)
		var there atomic.Bool
		there.Store(true)
		w.mu.Lock()
		w.exists = func(string) bool { return there.Load() }
		w.mu.Unlock()
		w.Built(Output{Dirs: []string{"/w/dist/server", "/w/dist/client"}, Last: []string{"/w/dist/server/index.js"}})
		feed := func(path string, pause time.Duration) {
			f.out <- path
			time.Sleep(pause)
		}

		// Static files, a pause, the worker is deleted, a pause, the worker.
		feed("/w/dist/client/a.css", 2*time.Second)
		there.Store(false)
		feed("/w/dist/server/index.js", 2*time.Second)
		there.Store(true)
		feed("/w/dist/server/index.js", 0)
		began := time.Now()
		if batch := (<-w.out).Paths; len(batch) != 2 || time.Since(began) > quietBuilt+busyPause {
			t.Errorf("%v after %v", batch, time.Since(began))
		}

		// A build that writes static files alone.
		feed("/w/dist/client/a.css", 0)
		began = time.Now()
		if <-w.out; time.Since(began) < quietUnfinished || time.Since(began) > quietUnfinished+busyPause {
			t.Errorf("static files alone: %v", time.Since(began))
		}

		// A build that fails after it has deleted the worker.
		there.Store(false)
		feed("/w/dist/server/index.js", 0)
		began = time.Now()
		if <-w.out; time.Since(began) < mostOfBuilt || time.Since(began) > mostOfBuilt+busyPause {
			t.Errorf("without the worker: %v", time.Since(began))
		}
	})
}

func TestBuiltPaths(t *testing.T) {
	t.Parallel()
	w := &Watcher{root: "/w"}
	w.Built(Output{Dirs: []string{"/w/.svelte-kit/cloudflare", "/w/dist/client", "/out"}})
	for path, want := range map[string]struct{ has, between bool }{
		"/w/.svelte-kit/cloudflare":          {true, false},
		"/w/.svelte-kit/cloudflare/_app/x":   {true, false},
		"/w/.svelte-kit/cloudflare-tmp/m.js": {false, true},
		"/w/.svelte-kit/output/x":            {false, true},
		"/w/dist/client/x":                   {true, false},
		"/w/dist/x":                          {false, false},
		"/w/src/x":                           {false, false},
		"/w/node_modules/x/y.js":             {false, false},
		"/out/x":                             {true, false},
	} {
		if has, between := w.built.has(path), w.built.between(path); has != want.has || between != want.between {
			t.Errorf("%s: %v %v", path, has, between)
		}
	}
}
