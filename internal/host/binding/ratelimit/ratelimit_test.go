package ratelimit_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/ratelimit"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

func declared(namespace, config string) bundle.Binding {
	return bundle.Binding{Name: "B", Kind: "rate_limit", Resource: namespace, Config: json.RawMessage(config)}
}

func TestKind(t *testing.T) {
	t.Parallel()
	bindingtest.Run(t, ratelimit.Kind{}, bindingtest.Suite{
		Good:  declared("1", `{"limit": 2, "period": 60}`),
		Other: declared("2", `{"limit": 2, "period": 10}`),
		Bad: map[string]bundle.Binding{
			"no namespace":  declared("", `{"limit": 2, "period": 60}`),
			"no config":     {Name: "B", Kind: "rate_limit", Resource: "1"},
			"no limit":      declared("1", `{"period": 60}`),
			"other period":  declared("1", `{"limit": 2, "period": 30}`),
			"unknown field": declared("1", `{"limit": 2, "period": 60, "x": 1}`),
		},
		Shape: `if (typeof B.limit !== "function") throw new Error("shape");
			const own = [await B.limit({ key: "own", limit: 1, period: 10 }), await B.limit({ key: "own", limit: 1, period: 10 }), await B.limit({ key: "own" })];
			if (own.map((r) => r.success).join() !== "true,false,true") throw new Error(JSON.stringify(own));`,
		Refused: map[string]string{
			`await B.limit({ key: 1 })`:       "Error: invalid key: 1",
			`await B.limit()`:                 "Error: invalid rate limit options",
			`await B.limit("x")`:              "Error: invalid rate limit options",
			`await B.limit(null)`:             "Error: invalid rate limit options",
			`await B.limit({ Key: "a" })`:     "Error: bad rate limit options: [Key]",
			`await B.limit({ limit: "bad" })`: "Error: limit must be a number: bad",
			`await B.limit({ period: "x" })`:  "Error: period must be a number: x",
			`await B.limit({ period: 1 })`:    "Error: unsupported period: 1",
		},
	})
}

// TestWorker: bindings of a namespace share its counts, and others do not see them.
func TestWorker(t *testing.T) {
	t.Parallel()
	twin, other := declared("1", `{"limit": 1000, "period": 60}`), declared("2", `{"limit": 1, "period": 60}`)
	twin.Name, other.Name = "TWIN", "OTHER"
	set := bindingtest.OpenSet(t, nil, []binding.Kind{ratelimit.Kind{}}, declared("1", `{"limit": 1000, "period": 60}`), twin, other)
	w := bindingtest.Start(t, set, `export default { async fetch(request, { B, TWIN, OTHER }) {
		const out = [];
		for (const b of [B, TWIN, OTHER]) out.push((await b.limit({ key: "a" })).success);
		out.push((await OTHER.limit({ key: "b" })).success);
		return Response.json(out);
	} };`)
	if got := w.Post(t, "/", ""); got != `[true,true,true,true]` {
		t.Error(got)
	}
}

// TestWindows: a limit holds for each key in each period of time, and refused calls do not count.
func TestWindows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		in, err := ratelimit.Kind{}.Open(t.Context(), declared("1", `{"limit": 2, "period": 10}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		call := func(key string) int {
			w := httptest.NewRecorder()
			in.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/2/10", strings.NewReader(key)))
			return w.Code
		}
		for i, want := range []int{200, 200, 429, 429} {
			if got := call("a"); got != want {
				t.Errorf("call %d: %d", i, got)
			}
		}
		if got := call("b"); got != 200 {
			t.Errorf("another key: %d", got)
		}
		time.Sleep(10 * time.Second)
		for i, want := range []int{200, 200, 429} {
			if got := call("a"); got != want {
				t.Errorf("call %d of the next window: %d", i, got)
			}
		}
	})
}
