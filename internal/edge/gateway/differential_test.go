package gateway_test

import (
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/edge/gateway"
)

var (
	differentialTime = flag.Duration("differential.duration", 0, "duration of TestDifferential; 0 for a fixed number of scenarios")
	differentialSeed = flag.Uint64("differential.seed", 1, "seed of its first scenario; 0 for one of the clock")
)

// differentialRuns is the default number of scenarios. They take about 12 s of processor
// time with the race detector.
const differentialRuns = 300

// TestDifferential compares the gateway's own HTTP, with and without event loops, with
// net/http: clients, workers and metrics see the same of random valid requests, except
// for the differences that TestDifferences lists.
func TestDifferential(t *testing.T) {
	t.Parallel()
	own, loop, std := newRig(t, gateway.EngineGo), newRig(t, gateway.EngineLoop), newRig(t, gateway.EngineStd)
	seed := *differentialSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	end := time.Now().Add(*differentialTime)
	n := uint64(0)
	for ; n < differentialRuns || time.Now().Before(end); n++ {
		want := std.play(t, newScenario(seed+n))
		for name, r := range map[string]*rig{"the gateway's own": own, "event loops": loop} {
			if diff := cmp.Diff(want, r.play(t, newScenario(seed+n))); diff != "" {
				t.Errorf("-differential.seed %d (- net/http, + %s):\n%s\n%s", seed+n, name, diff, newScenario(seed+n))
			}
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d scenarios from seed %d on", n, seed)
}

// TestDifferences has cases that TestDifferential omits: where net/http and the
// gateway's own HTTP answer differently. Further differences of net/http (TestBadRequests
// has some of them):
//
//   - It accepts a line that ends in a bare line feed, a folded header line, repeated equal
//     Content-Length fields, and Content-Length beside Transfer-Encoding (TestTwoLengths).
//   - The host of an absolute target counts, not that of Host.
//   - Header names are canonical and sorted; values of one name keep their order.
//   - A chunk that arrives in parts is forwarded when it is complete, or 32 KiB of it.
//   - A body with Expect: 100-continue that the client sends before the worker answers 100 is
//     forwarded after the worker's 100.
//   - A connection is closed whose response began before a body with Expect: 100-continue was
//     read, or whose chunked response ended before the body was read.
//   - A trailer section has up to 4 KiB, not 8.
//   - A client that leaves during a hold, with a body or a next request already sent, is noticed
//     after the hold.
//   - A new connection without a request is closed after 15 seconds, not after 2 minutes.
func TestDifferences(t *testing.T) {
	t.Parallel()
	const get, ok = "GET / HTTP/1.1\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
	for name, tc := range map[string]struct {
		request, answer string
		field           string // of the client's response
		own, std        string // the status line and that field
	}{
		"escape in the path": {"GET /%zz HTTP/1.1\r\n", ok, "", "HTTP/1.1 200 OK", "HTTP/1.1 400 Bad Request"},
		"other expectation":  {get + "Expect: tea\r\n", ok, "", "HTTP/1.1 200 OK", "HTTP/1.1 417 Expectation Failed"},
		"old with a coding":  {"GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n", ok, "", "HTTP/1.1 400 Bad Request", "HTTP/1.0 200 OK"},
		"old":                {"GET / HTTP/1.0\r\n", ok, "", "HTTP/1.1 200 OK", "HTTP/1.0 200 OK"},
		"reason":             {get, "HTTP/1.1 299 Odd\r\nContent-Length: 0\r\n\r\n", "", "HTTP/1.1 299 Odd", "HTTP/1.1 299 status code 299"},
		"304":                {get, "HTTP/1.1 304 Not Modified\r\nContent-Type: x\r\n\r\n", "Content-Type", "HTTP/1.1 304 Not Modified x", "HTTP/1.1 304 Not Modified"},
		"204":                {get, "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n", "Content-Length", "HTTP/1.1 204 No Content 0", "HTTP/1.1 204 No Content"},
		"pragma":             {get, "HTTP/1.1 200 OK\r\nPragma: no-cache\r\nContent-Length: 0\r\n\r\n", "Cache-Control", "HTTP/1.1 200 OK", "HTTP/1.1 200 OK no-cache"},
		"two framings":       {get, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "", "HTTP/1.1 502 Bad Gateway", "HTTP/1.1 200 OK"},
		"listed with close":  {get, "HTTP/1.1 204 No Content\r\nConnection: X-Hop, close\r\nX-Hop: 1\r\n\r\n", "X-Hop", "HTTP/1.1 204 No Content", "HTTP/1.1 204 No Content 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for engine, want := range map[gateway.Engine]string{gateway.EngineGo: tc.own, gateway.EngineLoop: tc.own, gateway.EngineStd: tc.std} {
				b := start(t, gateway.Config{Engine: engine})
				b.ready(shop, fakeRuntime(t, func(_ int, c *raw) {
					if _, _, err := readHead(c.Reader); err == nil {
						c.send(tc.answer)
					}
				}))
				c := b.raw(t)
				c.send(tc.request + "Host: v1.shop.apps.test\r\n\r\n")
				first, fields, err := readHead(c.Reader)
				if got := strings.TrimSpace(first + " " + fields.Get(tc.field)); err != nil || got != want {
					t.Errorf("%s: %q, want %q (%v)", engine, got, want, err)
				}
			}
		})
	}
}
