package database_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// gauge is a client that counts how many large answers are being written. It lets others
// come while it does.
type gauge struct {
	http.ResponseWriter

	now, most *atomic.Int32
}

func (g *gauge) Write(p []byte) (int, error) {
	if n := g.now.Add(1); n > g.most.Load() {
		g.most.Store(n)
	}
	defer g.now.Add(-1)
	for range 100 {
		runtime.Gosched()
	}
	return g.ResponseWriter.Write(p)
}

// TestLargeAnswers: of many large answers, two are held in memory at a time, and all are whole.
func TestLargeAnswers(t *testing.T) {
	t.Parallel()
	in := open(t, t.TempDir())
	ask(t, in, "CREATE TABLE t(x)")
	const rows, size = 24, 200_000
	ask(t, in, `WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 24) INSERT INTO t SELECT printf('%.*c', 200000, 'x') FROM n`)
	var now, most atomic.Int32
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			w := httptest.NewRecorder()
			g := &gauge{ResponseWriter: w, now: &now, most: &most}
			in.ServeHTTP(g, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/calls", strings.NewReader(`[{"objects":true,"statements":[{"sql":"SELECT x FROM t"}]}]`)))
			var answer []struct {
				Results []struct {
					Results []struct {
						X string `json:"x"`
					} `json:"results"`
				} `json:"results"`
			}
			if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || len(answer) != 1 || len(answer[0].Results) != 1 ||
				len(answer[0].Results[0].Results) != rows || len(answer[0].Results[0].Results[rows-1].X) != size {
				t.Errorf("an answer of %d bytes: %v", w.Body.Len(), err)
			}
		})
	}
	all.Wait()
	if n := most.Load(); n > 2 {
		t.Errorf("%d large answers were in memory at the same time", n)
	}
}

// TestTooLarge: a request and the rows of an answer have a limit, so that they fit the memory
// of the host.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	in := open(t, t.TempDir())
	const rows = `WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < ?) SELECT printf('%.*c', 1000000, 'x') AS x FROM n`
	if r := ask(t, in, rows, 2); !r.Success || r.Error != "" {
		t.Errorf("two rows: %s", r.Error)
	}
	if r := ask(t, in, rows, 34); !strings.HasPrefix(r.Error, "D1 query gives more than 33554432 bytes of rows") {
		t.Errorf("34 MB of rows: %t %s", r.Success, r.Error)
	}
	w := httptest.NewRecorder()
	in.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/calls", strings.NewReader(strings.Repeat(" ", 64<<20+1))))
	if !strings.Contains(w.Body.String(), "the request is longer than 67108864 bytes") {
		t.Errorf("a request of more than 64 MiB: %d %s", w.Code, w.Body)
	}
}
