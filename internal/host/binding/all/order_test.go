package all_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/all"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
)

var (
	orderRequests = flag.Int("order.requests", 60, "how many requests TestOrder makes; more than 1000 run under a CPU hog")
	orderKills    = flag.Int("order.kills", 2, "how often TestOrderSurvives kills workerd, and as often a client hangs up")
)

const (
	orderClients = 8  // requests at a time
	orderCalls   = 60 // of a request
)

func orderSet(t *testing.T) *binding.Set {
	t.Helper()
	return bindingtest.OpenSet(t, bindingtest.OpenVolumes(t, t.TempDir()), all.Kinds(),
		bundle.Binding{Name: "DB", Kind: "database", Resource: "db"},
		bundle.Binding{Name: "KV", Kind: "kv", Resource: "ns"},
		bundle.Binding{Name: "R2", Kind: "object_store", Resource: "bucket"})
}

func orderWorker(t *testing.T, set *binding.Set) *bindingtest.Worker {
	t.Helper()
	source, err := os.ReadFile("testdata/order.js")
	if err != nil {
		t.Fatal(err)
	}
	return bindingtest.Start(t, set, string(source))
}

// Calls of a request give what they would give one at a time, in the order in which the
// worker made them: D1 over all calls, KV and R2 for each key.
func TestOrder(t *testing.T) {
	t.Parallel()
	w := orderWorker(t, orderSet(t))
	w.Post(t, "/setup", "")
	if *orderRequests > 1000 {
		defer hog()()
	}
	var last, calls, wrong atomic.Int64
	var clients sync.WaitGroup
	for range orderClients {
		clients.Go(func() {
			for id := last.Add(1); id <= int64(*orderRequests) && wrong.Load() < 10; id = last.Add(1) {
				n, out := mixed(t, w, id)
				calls.Add(n)
				wrong.Add(int64(len(out)))
				for _, text := range out {
					t.Errorf("request %d, call %s", id, text)
				}
			}
		})
	}
	clients.Wait()
	t.Logf("%d requests, %d calls, %d out of order", *orderRequests, calls.Load(), wrong.Load())
}

// mixed makes the request of that number, and returns how many calls it made and which of
// them were out of order.
func mixed(t *testing.T, w *bindingtest.Worker, id int64) (calls int64, wrong []string) {
	t.Helper()
	var answer struct {
		Calls int64    `json:"calls"`
		Wrong []string `json:"wrong"`
	}
	text := w.Post(t, fmt.Sprintf("/calls?id=%d&n=%d", id, orderCalls), "")
	if err := json.Unmarshal([]byte(text), &answer); err != nil || answer.Calls < orderCalls {
		t.Errorf("request %d: %v: %s", id, err, text)
	}
	return answer.Calls, answer.Wrong
}

// hog keeps a processor busy until the function is called that it returns.
func hog() (stop func()) {
	var stopped atomic.Bool
	var busy sync.WaitGroup
	for range runtime.NumCPU() {
		busy.Go(func() {
			for !stopped.Load() {
			}
		})
	}
	return func() { stopped.Store(true); busy.Wait() }
}

// What a request did whose client hung up, or whose workerd was killed, is the beginning of
// what it would have done; and the requests of others are not affected.
func TestOrderSurvives(t *testing.T) {
	t.Parallel()
	set := orderSet(t)
	w := orderWorker(t, set)
	w.Post(t, "/setup", "")
	for i := range *orderKills {
		id := 1_000_000 + 3*i
		streams := make([]io.ReadCloser, 3)
		for k, path := range []string{"/stream?id=%d", "/stream?wait&id=%d", "/stream?id=%d"} {
			streams[k] = w.Open(t, fmt.Sprintf(path, id+k))
			_, _ = streams[k].Read(make([]byte, 1))
		}
		for _, left := range streams[:2] {
			if err := left.Close(); err != nil {
				t.Error(err)
			}
		}
		if _, wrong := mixed(t, w, int64(1000+i)); len(wrong) > 0 {
			t.Errorf("beside clients that hung up: %v", wrong)
		}
		w.Kill()
		_ = streams[2].Close()
		w = orderWorker(t, set)
		for k := range streams {
			beginning(t, w, id+k)
		}
	}
}

// beginning checks that the rows of a request are the first ones, in their order.
func beginning(t *testing.T, w *bindingtest.Worker, id int) {
	t.Helper()
	var rows []int
	if err := json.Unmarshal([]byte(w.Post(t, fmt.Sprintf("/inserted?id=%d", id), "")), &rows); err != nil {
		t.Fatal(err)
	}
	for i, v := range rows {
		if v != i {
			t.Fatalf("request %d: row %d has the value %d: %v", id, i, v, rows)
		}
	}
	t.Logf("request %d inserted %d rows", id, len(rows))
}
