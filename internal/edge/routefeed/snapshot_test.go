package routefeed_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/svcctl/svcctl/internal/edge/routefeed"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestLateGateways: gateways that connect one after another share a snapshot, and have the changes
// since it, also when these are more than the log keeps.
func TestLateGateways(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	version := func(i int) svc.Ref { return svc.Ref{Project: "shop", Version: "n" + strconv.Itoa(i)} }
	w.log.SetVersion(v1, ready("a"))
	w.log.SetVersion(v2, ready("b"))
	w.log.SetProduction("shop", "v1")
	edges := []*edge{w.edge("a")}
	w.same(edges...)
	w.log.RemoveVersion(v1)
	w.log.SetProduction("shop", "v2")
	edges = append(edges, w.edge("b"))
	w.same(edges...)
	if got, want := readyAt(t, w, "c"), w.log.Generation(); got != want {
		t.Errorf("a late gateway counts as complete at %d, want %d", got, want)
	}
	for i := range 5000 {
		w.log.SetVersion(version(i), ready("k"))
		if i%10 == 0 {
			w.log.RemoveVersion(version(i / 2))
		}
	}
	edges = append(edges, w.edge("d"))
	w.log.SetVersion(v2, ready("c"))
	w.same(edges...)
}

// TestReconnect: a gateway that connects again gets a snapshot that is older than its own routes, and the changes
// since. It does not go back to the production before.
func TestReconnect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.log.SetVersion(v1, ready("a"))
	w.log.SetVersion(v2, ready("b"))
	w.log.SetProduction("shop", "v1")
	e := w.edge("a")
	w.same(e)
	w.log.SetProduction("shop", "v2")
	w.same(e)
	before := len(e.routes.since(0))
	w.down.Store(true)
	w.http.CloseClientConnections()
	svctest.Eventually(t, "the gateway to see that the server is away", func() bool { return !e.State().Connected })
	w.log.SetVersion(v2, ready("c"))
	w.down.Store(false)
	w.same(e)
	for _, call := range e.routes.since(before) {
		if call == "production shop v1" || strings.HasPrefix(call, "close ") {
			t.Errorf("the gateway made the call %q", call)
		}
	}
}

// BenchmarkConnect is 50 gateways that connect with a server of 100,000 routes at the same time.
func BenchmarkConnect(b *testing.B) {
	w := newWorld(b)
	for i := range 100_000 {
		w.log.SetVersion(svc.Ref{Project: "shop", Version: "v" + strconv.Itoa(i)}, svc.Upstream{Status: svc.StatusArchived})
	}
	var peak uint64
	for b.Loop() {
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() { readyAt(b, w, "g"+strconv.Itoa(i)) })
		}
		all.Wait()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		peak = max(peak, m.HeapSys)
		w.log.SetVersion(v1, ready(strconv.FormatUint(w.log.Generation(), 10))) // a change
	}
	b.ReportMetric(float64(peak)/(1<<20), "heap-MiB")
}

// readyAt reads routes until they are complete, and returns their generation.
func readyAt(tb testing.TB, w *world, instance string) uint64 {
	tb.Helper()
	resp, err := http.Get(w.http.URL + routefeed.FeedPath + "?instance=" + instance)
	if err != nil {
		tb.Error(err)
		return 0
	}
	defer resp.Body.Close()
	for in := bufio.NewScanner(resp.Body); in.Scan(); {
		var l routefeed.Line
		if strings.Contains(in.Text(), `"kind":"ready"`) && json.Unmarshal(in.Bytes(), &l) == nil {
			return l.Generation
		}
	}
	tb.Error("the stream ended")
	return 0
}

// TestDomains: own host names reach gateways on other machines, also those that connect later, and are
// removed there when they were removed in between.
func TestDomains(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.log.SetVersion(v1, ready("a"))
	w.log.SetProduction("shop", "v1")
	e := w.edge("a")
	w.log.SetDomain(svc.DomainRoute{Host: "shop.example.com", Project: "shop"})
	w.log.SetDomain(svc.DomainRoute{Host: "www.example.com", Project: "shop", Redirect: "shop.example.com"})
	before := w.log.Generation()
	w.log.SetDomain(svc.DomainRoute{Host: "shop.example.com", Project: "shop"})
	w.log.RemoveDomain("absent.example.com")
	if w.log.Generation() != before {
		t.Error("what changed nothing was sent")
	}
	late := w.edge("b")
	w.same(e, late)
	if got := late.routes.list(); !strings.Contains(got, "domain shop.example.com=shop/;") || !strings.Contains(got, "domain www.example.com=shop/shop.example.com") {
		t.Errorf("a late gateway has %s", got)
	}
	w.down.Store(true)
	w.http.CloseClientConnections()
	w.log.RemoveDomain("www.example.com")
	w.down.Store(false)
	w.same(e, late)
	w.log.RemoveDomain("shop.example.com")
	w.same(e, late)
	if got := e.routes.list(); strings.Contains(got, "domain") {
		t.Errorf("a removed host is left: %s", got)
	}
}
