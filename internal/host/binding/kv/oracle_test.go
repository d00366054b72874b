package kv_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/kv"
)

func start(t *testing.T, dir string) *bindingtest.Worker {
	t.Helper()
	set := bindingtest.OpenSet(t, bindingtest.OpenVolumes(t, dir), []binding.Kind{kv.Kind{}},
		bundle.Binding{Name: "KV", Kind: "kv", Resource: "ns"})
	return bindingtest.Start(t, set, bindingtest.Calls)
}

type (
	args   = []any
	object = map[string]any
)

func repeat(s string, n int) object { return object{"$repeat": args{s, n}} }
func bytes(b ...int) object         { return object{"$bytes": b} }
func fromNow(s int) object          { return object{"$now": s} }

// call is one on the namespace KV.
func call(method string, rest ...any) args { return append(args{"KV", method}, rest...) }

// The answers of this program are those of workerd's own key-value worker.
//
//nolint:tparallel // the cases share two namespaces
func TestOracle(t *testing.T) {
	t.Parallel()
	ours := start(t, t.TempDir())
	oracle := bindingtest.StartOracle(t, bindingtest.Oracle{KV: []string{"KV"}}, bindingtest.Calls)
	for name, calls := range oracleCalls() {
		t.Run(name, func(t *testing.T) {
			bindingtest.Compare(t, ours, oracle, withoutClock, calls...)
		})
	}
}

var spelledTime = regexp.MustCompile(`expiration of \d{10}\b`)

// withoutClock removes times that were worked out from the present one.
func withoutClock(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if at, ok := v["expiration"].(float64); ok && at < 4e9 {
			v["expiration"] = "soon"
		}
		if text, ok := v["error"].(string); ok {
			v["error"] = spelledTime.ReplaceAllString(text, "expiration of soon")
		}
		for k, x := range v {
			v[k] = withoutClock(x)
		}
	case []any:
		for i, x := range v {
			v[i] = withoutClock(x)
		}
	}
	return v
}

func oracleCalls() map[string][]args {
	odd := []string{"a/../b", "//", "/", "a%2Fb", "a+b c", "é 😀", "?q=1&x", "#f", "%", "..%2f", "a\nb", "a\u0000b", "~", "\\", "bulk/get", "..a", "\u2028", "'\""}
	var keys []args
	for i, k := range odd {
		keys = append(keys, call("put", k, "value "+k), call("get", k), call("getWithMetadata", k))
		if i%2 == 0 {
			keys = append(keys, call("delete", k), call("get", k))
		}
	}
	keys = append(keys, call("list"), call("list", object{"prefix": "a"}), call("list", object{"prefix": "é"}),
		call("put", "", "x"), call("put", ".", "x"), call("put", "..", "x"), call("put", repeat("k", 512), "ok"),
		call("put", repeat("k", 513), "x"), call("put", repeat("é", 257), "x"), call("get", repeat("k", 512)))
	for _, k := range odd {
		keys = append(keys, call("delete", k))
	}
	pages := []args{call("delete", repeat("k", 512))}
	for _, k := range []string{"p:1", "p:10", "p:2", "p:é", "p:\uffff", "p:😀", "q", "P"} {
		pages = append(pages, call("put", k, "v", object{"metadata": object{"k": k}}))
	}
	pages = append(pages, call("list"), call("list", object{"prefix": "p:"}), call("list", object{"prefix": "p:", "limit": 2}),
		call("list", object{"limit": 3, "cursor": "cDoy"}), call("list", object{"prefix": "p:1", "cursor": "cDox"}),
		call("list", object{"limit": 1000}), call("list", object{"limit": 1001}), call("list", object{"limit": -1}),
		call("list", object{"limit": 0}), call("list", object{"limit": 2.7}), call("list", object{"cursor": "!!"}), call("list", object{"cursor": "/w=="}),
		call("list", object{"prefix": "nothing"}), call("list", object{"prefix": repeat("x", 513)}), call("list", object{"prefix": nil, "cursor": nil}))
	return map[string][]args{
		"keys": keys, "pages": pages,
		"values": {
			call("get", "none"), call("getWithMetadata", "none"), call("delete", "none"),
			call("put", "v", "text"), call("get", "v"), call("get", "v", "text"), call("get", "v", "arrayBuffer"), call("get", "v", "json"),
			call("put", "v", ""), call("get", "v"), call("put", "v", bytes(0, 255, 128)), call("get", "v", "arrayBuffer"), call("get", "v"),
			call("put", "v", 5), call("get", "v"), call("put", "v", nil), call("get", "v"), call("put", "v", true),
			call("put", "v", `{"a":[1,2]}`), call("get", "v", "json"), call("get", "v", object{"type": "json", "cacheTtl": 60}),
			call("put", "v", repeat("x", 25<<20)), call("put", "v", repeat("x", 25<<20+1)), call("put", "small", "y"), call("get", "small"),
			call("put", "v", repeat("é", 1000)), call("get", "v"), call("delete", "v"), call("get", "v"), call("put", "v", "\ufeffbom"), call("get", "v"),
		},
		"metadata": {
			call("put", "m", "v", object{"metadata": object{"a": 1, "é": "😀", "n": nil}}), call("getWithMetadata", "m"), call("getWithMetadata", "m", "arrayBuffer"),
			call("put", "m", "v", object{"metadata": "text"}), call("getWithMetadata", "m"), call("put", "m", "v", object{"metadata": 0}), call("getWithMetadata", "m"),
			call("put", "m", "v", object{"metadata": false}), call("getWithMetadata", "m"), call("put", "m", "v", object{"metadata": nil}), call("getWithMetadata", "m"),
			call("put", "m", "v", object{"metadata": repeat("x", 1022)}), call("put", "m", "v", object{"metadata": repeat("x", 1023)}), call("put", "m", "v", object{"metadata": repeat("é", 512)}),
			call("put", "m", "v"), call("getWithMetadata", "m"), call("list", object{"prefix": "m"}),
		},
		"expiration": {
			call("put", "e", "v", object{"expirationTtl": 60}), call("list", object{"prefix": "e"}), call("get", "e"),
			call("put", "e", "v", object{"expirationTtl": 59}), call("put", "e", "v", object{"expirationTtl": 0}), call("put", "e", "v", object{"expirationTtl": -1}),
			call("put", "e", "v", object{"expirationTtl": 60.9}), call("put", "e", "v", object{"expirationTtl": "nan"}), call("put", "e", "v", object{"expirationTtl": 1e15}),
			call("put", "e", "v", object{"expiration": 5e9}), call("list", object{"prefix": "e"}), call("put", "e", "v", object{"expiration": 1}),
			call("put", "e", "v", object{"expiration": fromNow(30)}), call("put", "e", "v", object{"expiration": fromNow(90)}), call("put", "e", "v", object{"expiration": fromNow(-5)}),
			call("put", "e", "v", object{"expiration": fromNow(90), "expirationTtl": 100}), call("put", "e", "v"), call("list", object{"prefix": "e"}),
			call("get", "e", object{"cacheTtl": 29}), call("get", "e", object{"cacheTtl": 30}), call("get", "e", object{"cacheTtl": 0}), call("get", "e", object{"cacheTtl": 1e6}),
		},
		"several": {
			call("put", "s1", "one", object{"metadata": object{"a": 1}}), call("put", "s2", `{"two":[2,null]}`), call("put", "s3", bytes(0xe2, 0x82, 0x41, 0xff, 0xc0, 0x80)), call("put", "s4", "\ufeff\"b\""),
			call("get", args{"s1", "s2", "nope"}), call("get", args{"s1", "s1"}), call("get", args{"s3", "s4"}), call("get", args{"s2", "s4"}, "json"), call("get", args{"s2", "s1"}, "json"), call("get", args{"s3"}, "json"),
			call("getWithMetadata", args{"s1", "s2", "nope"}), call("getWithMetadata", args{"s2"}, "json"), call("getWithMetadata", args{"s2"}, object{"type": "json", "cacheTtl": 60}),
			call("get", args{}), call("get", args{""}), call("get", args{".."}), call("get", args{repeat("k", 513)}), call("get", args{"s1"}, "arrayBuffer"), call("get", args{"s1"}, object{"cacheTtl": 5}),
			call("get", many(100)), call("get", many(101)), call("get", args{"10", "s1", "a b", "é", "\"q\""}),
			call("put", "big1", repeat("x", 13<<20)), call("put", "big2", repeat("x", 13<<20)), call("get", args{"big1", "big2"}), call("delete", "big1"), call("delete", "big2"),
		},
	}
}

func many(n int) (keys args) {
	for i := range n {
		keys = append(keys, "key"+strings.Repeat("x", i))
	}
	return keys
}
