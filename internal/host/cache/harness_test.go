package cache_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/cache"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/host/workerd/workerdtest"
)

// source is a worker that makes the calls in a request's body, one after another, on the
// Cache API, and says what came of each.
const source = `
const init = (r) => ({ headers: r.headers ?? {}, cf: r.cf });
const body = (c) => {
  if (c.size !== undefined) return "x".repeat(c.size);
  if (!c.stream) return c.status === 204 || c.status === 304 ? null : c.body ?? "body";
  const { readable, writable } = new TransformStream();
  const w = writable.getWriter();
  w.write(new TextEncoder().encode(c.body ?? "body")).then(() => w.close());
  return readable;
};
async function call(c) {
  const cache = c.cache === undefined ? caches.default : await caches.open(c.cache);
  const key = c.plain ? c.url : new Request(c.url, init(c));
  if (c.do === "put") {
    const response = new Response(body(c), { status: c.status ?? 200, headers: c.response ?? {}, encodeBody: c.encoded });
    return { value: String(await cache.put(key, response)) };
  }
  if (c.do === "delete") return { value: String(await cache.delete(key, c.options)) };
  const found = await cache.match(key, c.options);
  if (found === undefined) return { miss: true };
  const text = await found.text();
  return { status: found.status, headers: [...found.headers], body: c.size === undefined ? text : String(text.length) };
}
export default { async fetch(request) {
  const answers = [];
  for (const c of await request.json()) {
    try { answers.push(await call(c)); } catch (e) { answers.push({ error: String(e) }); }
  }
  return Response.json(answers);
}};`

// call is one call of the worker.
type call struct {
	Do       string         `json:"do"` // put, match or delete
	URL      string         `json:"url"`
	Plain    bool           `json:"plain,omitempty"` // the key is a string, not a Request
	Cache    *string        `json:"cache,omitempty"` // name; nil for caches.default
	Headers  object         `json:"headers,omitempty"`
	CF       map[string]any `json:"cf,omitempty"`
	Options  map[string]any `json:"options,omitempty"`
	Response object         `json:"response,omitempty"` // headers
	Status   int            `json:"status,omitempty"`
	Body     string         `json:"body,omitempty"`
	Size     *int           `json:"size,omitempty"` // of the body, in place of Body
	Stream   bool           `json:"stream,omitempty"`
	Encoded  string         `json:"encoded,omitempty"` // encodeBody
}

type object map[string]string

// result is what came of a call.
type result struct {
	Value   string      `json:"value"`
	Error   string      `json:"error"`
	Miss    bool        `json:"miss"`
	Status  int         `json:"status"`
	Headers [][2]string `json:"headers"`
	Body    string      `json:"body"`
}

func (r result) header(name string) (value string) {
	for _, h := range r.Headers {
		if h[0] == name {
			value = h[1]
		}
	}
	return value
}

// caller is a worker with a cache, whose clock only the test moves.
type caller struct {
	t      *testing.T
	client *http.Client
	ahead  atomic.Int64 // of began, in nanoseconds
}

// began is what all clocks show at first.
var began = time.Now()

func (c *caller) now() time.Time { return began.Add(time.Duration(c.ahead.Load())) }

func (c *caller) advance(d time.Duration) { c.ahead.Add(int64(d)) }

// start starts a worker on a cache in dir with a limit.
func start(t *testing.T, dir string, limit int64) *caller {
	t.Helper()
	c := &caller{t: t}
	run, err := os.MkdirTemp("", "c") //nolint:usetesting // short: sockets are in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(run) })
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	serve(t, filepath.Join(run, "b"), cache.New(cache.Config{Dir: dir, Bytes: limit, Now: c.now, Logger: log}).Beside(http.NotFoundHandler()))
	c.client = workerdtest.Serve(t, workerd.Config{
		Services: []workerd.Service{
			{Name: "user", Worker: &workerd.Worker{
				Modules:           []workerd.Module{{Name: "index.js", Type: workerd.ESModule, Source: source}},
				CompatibilityDate: "2026-11-01", CacheAPIOutbound: cache.ServiceName,
			}},
			cache.Service("unix:" + filepath.Join(run, "b")),
		},
		Sockets: []workerd.Socket{{Name: "http", Address: "unix:" + filepath.Join(run, "w"), Service: workerd.ServiceRef{Name: "user"}}},
	}, filepath.Join(run, "w"))
	return c
}

func serve(t *testing.T, socket string, h http.Handler) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := binding.NewServer(h, slog.New(slog.NewTextHandler(t.Output(), nil)))
	done := make(chan error, 1)
	go func() { done <- server.Serve(t.Context(), l) }()
	t.Cleanup(func() {
		server.Close()
		if err := <-done; err != nil {
			t.Errorf("serving the cache: %v", err)
		}
	})
}

// calls makes calls in one request.
func (c *caller) calls(list ...call) []result {
	c.t.Helper()
	body, err := json.Marshal(list)
	if err != nil {
		c.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, "http://worker.test/", bytes.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	resp, err := c.client.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	var answers []result
	if err := json.Unmarshal(text, &answers); err != nil || len(answers) != len(list) {
		c.t.Fatalf("%d calls: %v: %s", len(list), err, text)
	}
	return answers
}

// call makes one call that must not throw.
func (c *caller) call(one call) result {
	c.t.Helper()
	r := c.calls(one)[0]
	if r.Error != "" {
		c.t.Fatalf("%+v throws %s", one, r.Error)
	}
	return r
}

// put stores a response that can be kept for an hour.
func (c *caller) put(url string, one call) {
	c.t.Helper()
	one.Do, one.URL = "put", url
	if one.Response == nil {
		one.Response = object{}
	}
	if _, given := one.Response["Cache-Control"]; !given {
		one.Response["Cache-Control"] = "max-age=3600"
	}
	if r := c.call(one); r.Value != "undefined" {
		c.t.Fatalf("put gives %q", r.Value)
	}
}

// get is a match with headers.
func (c *caller) get(url string, headers object) result {
	c.t.Helper()
	return c.call(call{Do: "match", URL: url, Headers: headers})
}
