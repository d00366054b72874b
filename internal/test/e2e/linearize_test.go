//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/test/crashtest"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

var linearizeTime = flag.Duration("linearize.duration", 4*time.Second, "duration of TestLinearizable, in each durability")

// TestLinearizable: clients read, write and compare-and-set registers in each kind of store by the host
// name of production, while the daemon, worker hosts and workerd are killed, and a release is made in
// the middle. The answers fit into one order of the calls of each register, and each message that a
// queue acknowledged is delivered.
func TestLinearizable(t *testing.T) {
	t.Parallel()
	for _, durability := range []string{"async", "sync"} {
		t.Run(durability, func(t *testing.T) {
			t.Parallel()
			h := newHistories(t, durability)
			stop := h.clients(8)
			half := time.Now().Add(*linearizeTime / 2)
			h.killUntil(half)
			if p := h.lives.released("registers", "check", api.ReleaseVersion{VersionID: "v2"}); p.Status != api.PromotionStatusDone {
				t.Errorf("the release: %s %s", p.Status, p.Error)
			}
			h.killUntil(half.Add(*linearizeTime / 2))
			h.progress(50)
			stop()
			registers, wrong := linearizable(h.calls)
			for _, text := range wrong {
				t.Error(text)
			}
			h.delivered()
			t.Logf("%d calls of %d registers, %d without an answer, %d messages, kills %v", len(h.calls), registers, h.unknown, len(h.sent), h.kills)
		})
	}
}

// histories is what clients of one daemon, over all its lives, have asked and been told.
type histories struct {
	*daemon // with its first addresses, which stay

	lives  *daemon
	prod   string
	web    *http.Client
	stores []string
	rand   *rand.Rand
	kills  map[string]int
	deaths []time.Time  // of worker hosts and workerd, of the daemon that runs
	last   atomic.Int64 // number that was written; no number is written twice

	mu      sync.Mutex // guards the fields below
	calls   []registerOp
	sent    []int64          // acknowledged messages
	seen    map[string]int64 // what a register had last
	answers int
	unknown int
}

const registersConfig = `{
  "name": "registers", "main": "index.js", "compatibility_date": "2026-11-01",
  "d1_databases": [{ "binding": "DB", "database_name": "registers" }],
  "kv_namespaces": [{ "binding": "KV" }],
  "r2_buckets": [{ "binding": "FILES", "bucket_name": "files" }],
  "queues": { "producers": [{ "binding": "QUEUE", "queue": "numbers" }], "consumers": [{ "queue": "numbers", "max_batch_timeout": 1 }] }%s
}`

// newHistories deploys the registers. With sync there are no Durable Objects.
func newHistories(t *testing.T, durability string) *histories {
	t.Helper()
	files, objects, stores := map[string]string{}, "", []string{"d1", "kv", "r2", "queue"}
	for _, name := range []string{"index.js", "migrations/0001_registers.sql"} {
		text, err := os.ReadFile("testdata/registers/" + name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(text)
	}
	if durability == "async" {
		stores = append(stores, "object")
		objects = `, "durable_objects": { "bindings": [{ "name": "REGISTER", "class_name": "Register" }] }, "migrations": [{ "tag": "v1", "new_sqlite_classes": ["Register"] }]`
	}
	dir := worker(t, fmt.Sprintf(registersConfig, objects), files)
	d := started(t, "PLATFORM_PORT="+freePort(t), "GATEWAY_PORT="+freePort(t), "SVC_DURABILITY="+durability)
	v1 := d.deploy(dir, "--version", "v1")
	d.deploy(dir, "--version", "check", "--parent", "v1")
	same := &daemon{t: t, home: d.home, env: d.env, log: d.log, note: d.note, bin: d.bin}
	return &histories{daemon: same, lives: d, prod: v1.ProdURL, web: d.http(), stores: stores, rand: crashtest.Rand(t), kills: map[string]int{}, seen: map[string]int64{}}
}

// clients starts n clients; stop ends them.
func (h *histories) clients(n int) (stop func()) {
	ctx, cancel := context.WithCancel(h.t.Context())
	var all sync.WaitGroup
	began := time.Now()
	for i := range n {
		r := rand.New(rand.NewPCG(h.rand.Uint64(), uint64(i)))
		all.Go(func() {
			for ctx.Err() == nil {
				h.step(ctx, r, time.Since(began))
			}
		})
	}
	return func() { cancel(); all.Wait() }
}

// step makes one call. A register is used for two seconds, so that its history is short.
func (h *histories) step(ctx context.Context, r *rand.Rand, age time.Duration) {
	store := h.stores[r.IntN(len(h.stores))]
	c := registerOp{
		register: fmt.Sprintf("%s-%d-%d", store, age/(2*time.Second), r.IntN(2)), op: []string{"read", "read", "write", "cas"}[r.IntN(4)],
		value: h.last.Add(1), began: time.Now(),
	}
	if store == "kv" && c.op == "cas" || store == "queue" {
		c.op = "write"
	}
	h.mu.Lock()
	c.expects = h.seen[c.register]
	h.mu.Unlock()
	a, err := fetch(ctx, h.web, http.MethodGet, fmt.Sprintf("%s/%s?k=%s&op=%s&v=%d&a=%d", h.prod, store, c.register, c.op, c.value, c.expects), "")
	var got struct {
		V  int64
		OK bool
	}
	c.answered = err == nil && a.Status == http.StatusOK && json.Unmarshal([]byte(a.Body), &got) == nil
	c.got, c.did, c.ended = got.V, got.OK, time.Now()
	if !errors.Is(err, syscall.ECONNREFUSED) { // it was not sent
		h.note(store, c)
	}
	if !c.answered { // perhaps there is no daemon now
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (h *histories) note(store string, c registerOp) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c.answered {
		h.answers++
	} else {
		h.unknown++
	}
	if store == "queue" {
		if c.answered {
			h.sent = append(h.sent, c.value)
		}
		return
	}
	h.calls = append(h.calls, c)
	if c.answered && c.op == "read" {
		h.seen[c.register] = c.got
	} else if c.answered && c.did {
		h.seen[c.register] = c.value
	}
}

// killUntil kills processes until then.
func (h *histories) killUntil(then time.Time) {
	h.t.Helper()
	for first := true; first || time.Now().Before(then); first = false {
		h.progress(30 + h.rand.IntN(100))
		switch h.rand.IntN(3) {
		case 0:
			h.kills["daemon"]++
			h.deaths = nil
			h.lives.kill()
			h.lives.noProcessesLeft()
			if !h.lives.start() {
				h.t.Fatal("the daemon does not start")
			}
		case 1:
			h.kill("worker host", " runtime-host")
		case 2:
			h.kill("workerd", workerd+" serve")
		}
	}
}

// progress waits for n more calls that are answered.
func (h *histories) progress(n int) {
	h.t.Helper()
	answered := func() int {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.answers
	}
	enough := answered() + n
	svctest.Eventually(h.t, "calls to be answered", func() bool { return answered() >= enough })
}

// kill kills one of these processes. A version that dies too often in a minute would fail.
func (h *histories) kill(name, text string) {
	h.deaths = slices.DeleteFunc(h.deaths, func(at time.Time) bool { return time.Since(at) > time.Minute })
	pids := h.pids(text)
	if len(pids) == 0 || len(h.deaths) >= 3 {
		return
	}
	if syscall.Kill(pids[h.rand.IntN(len(pids))], syscall.SIGKILL) == nil {
		h.kills[name]++
		h.deaths = append(h.deaths, time.Now())
	}
}

// delivered waits until each acknowledged message has been delivered.
func (h *histories) delivered() {
	h.t.Helper()
	svctest.Succeeds(h.t, "the messages to be delivered", func() error {
		a, err := fetch(h.t.Context(), h.web, http.MethodGet, h.prod+"/got", "")
		if err != nil || a.Status != http.StatusOK {
			return fmt.Errorf("%d %s %w", a.Status, a.Body, err)
		}
		var rows [][1]int64
		if err := json.Unmarshal([]byte(a.Body), &rows); err != nil {
			return err
		}
		there := map[int64]bool{}
		for _, row := range rows {
			there[row[0]] = true
		}
		for _, n := range h.sent {
			if !there[n] {
				return fmt.Errorf("the message %d is not delivered", n)
			}
		}
		return nil
	})
}
