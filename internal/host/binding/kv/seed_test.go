package kv_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/kv"
	"github.com/svcctl/svcctl/internal/svc"
)

func seed(t *testing.T, in binding.Instance, text string) ([]string, error) {
	t.Helper()
	return seedAs(t, in, "seed/KV.jsonl", text)
}

func seedAs(t *testing.T, in binding.Instance, path, text string) ([]string, error) {
	t.Helper()
	s := bundle.Seeds{Binding: "KV", Files: []bundle.File{{Path: path}}}
	done, err := seeder(t, in).Seed(t.Context(), s, fstest.MapFS{path: &fstest.MapFile{Data: []byte(text)}})
	var paths []string
	for _, f := range done {
		paths = append(paths, f.Path)
	}
	return paths, err
}

func seeder(t *testing.T, in binding.Instance) binding.Seeder {
	t.Helper()
	s, ok := in.(binding.Seeder)
	if !ok {
		t.Fatal("a namespace takes no seeds")
	}
	return s
}

func TestSeed(t *testing.T) {
	t.Parallel()
	later := time.Now().Unix() + 3600
	text := "\ufeff" + `{"key":"a","value":"one \ud83d\ude00"}` + "\r\n" + `

  {"key":"dir/b c","value":"AP8=","base64":true,"metadata":{ "n": 1.50, "é": [] }}
{"key":"gone","value":"x","expiration":1700000000}
{"key":"later","value":"","expiration":` + fmt.Sprint(later) + `}
{"key":"ttl","value":"x","expiration_ttl":60,"metadata":null}
{"key":"a","value":"two"}`
	v := bindingtest.OpenVolumes(t, t.TempDir())
	in := open(t, v)
	for _, imported := range [][]string{{"seed/KV.jsonl"}, nil} {
		got, err := seed(t, in, text)
		if err != nil || !slices.Equal(got, imported) {
			t.Fatalf("imported %v, %v; want %v", got, err, imported)
		}
		want(t, in, "GET", "/a", "", "200 two")
		want(t, in, "GET", "/dir%2Fb%20c", "", "200 \x00\xff")
		want(t, in, "GET", "/later", "", "200")
		want(t, in, "DELETE", "/a", "", "200") // and it does not come back
		want(t, in, "PUT", "/a", "two", "200")
	}
	want(t, in, "GET", "/gone", "", "404")
	list := do(t, in, "GET", "/", "")
	for _, part := range []string{`"name":"dir/b c","metadata":"{\"n\":1.50,\"é\":[]}"`, fmt.Sprintf(`"name":"later","expiration":%d`, later), `"name":"ttl","expiration":`} {
		if !strings.Contains(list, part) {
			t.Errorf("%s lacks %s", list, part)
		}
	}
	other, err := seedAs(t, in, "seed/KV/more.jsonl", `{"key":"z","value":"z"}`)
	if err != nil || len(other) != 1 || count(t, v) != 5 {
		t.Errorf("another file: %v, %v, %d keys", other, err, count(t, v))
	}
}

// A child imports the files that are new, and changes no key of its parent's.
func TestSeedOfChild(t *testing.T) {
	t.Parallel()
	v := bindingtest.OpenVolumes(t, t.TempDir())
	parent := open(t, v)
	if _, err := seed(t, parent, `{"key":"a","value":"seed"}`+"\n"+`{"key":"b","value":"seed"}`); err != nil {
		t.Fatal(err)
	}
	want(t, parent, "PUT", "/a", "changed", "200")
	want(t, parent, "DELETE", "/b", "", "200")
	child := open(t, bindingtest.Inherited{Volumes: v})
	if got, err := seed(t, child, `{"key":"b","value":"seed"}`); err != nil || got != nil {
		t.Errorf("imported %v, %v", got, err)
	}
	want(t, child, "GET", "/b", "", "404")
	for _, imported := range [][]string{{"seed/KV/new.jsonl"}, nil} {
		got, err := seedAs(t, child, "seed/KV/new.jsonl", `{"key":"a","value":"new"}`+"\n"+`{"key":"c","value":"one"}`+"\n"+`{"key":"c","value":"two"}`)
		if err != nil || !slices.Equal(got, imported) {
			t.Errorf("imported %v, %v; want %v", got, err, imported)
		}
		want(t, child, "GET", "/a", "", "200 changed")
		want(t, child, "GET", "/c", "", "200 two")
	}
}

func TestSeedFails(t *testing.T) {
	t.Parallel()
	line := func(rest string) string { return `{"key":"k","value":"v"` + rest + `}` }
	for name, c := range map[string]struct{ text, want string }{
		"not json":       {`{"key":`, "line 2: unexpected EOF"},
		"an array":       {`[{"key":"a","value":"b"}]`, "line 2: it begins an array, and a line is one object: jq -c '.[]'"},
		"text":           {`"key"`, "line 2: cannot unmarshal string"},
		"two":            {line("") + line(""), "line 2: there is more than one object"},
		"unknown field":  {line(`,"ttl":60`), `line 2: unknown field "ttl"`},
		"no key":         {`{"value":"v"}`, "line 2: Key names must not be empty"},
		"no value":       {`{"key":"k"}`, `line 2: the key "k" has no "value"`},
		"null":           {`{"key":"k","value":null}`, `line 2: the key "k" has no "value"`},
		"number":         {`{"key":"k","value":7}`, "line 2: cannot unmarshal number into Go struct field seedLine.value of type string"},
		"key":            {`{"key":"..","value":"v"}`, `line 2: Illegal key name ".."`},
		"long key":       {`{"key":"` + strings.Repeat("x", 513) + `","value":"v"}`, "exceeds key length limit of 512"},
		"base64":         {line(`,"base64":true`), `line 2: the value of "k" is not base64`},
		"metadata":       {line(`,"metadata":"` + strings.Repeat("x", 1023) + `"`), `the metadata of "k" has 1025 bytes, and 1024 are the limit`},
		"expiration":     {line(`,"expiration":-1`), "line 2: expiration is -1"},
		"expiration_ttl": {line(`,"expiration_ttl":59`), "line 2: expiration_ttl is 59 and must be at least 60 seconds"},
		"utf-8":          {`{"key":"k","value":"` + "\xff" + `"}`, `line 2: it is not UTF-8: write bytes as base64`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := bindingtest.OpenVolumes(t, t.TempDir())
			in := open(t, v)
			got, err := seed(t, in, `{"key":"first","value":"v"}`+"\n"+c.text+"\n")
			if err == nil || !strings.Contains(err.Error(), "seed/KV.jsonl: "+c.want) && !strings.Contains(err.Error(), c.want) || len(got) > 0 {
				t.Errorf("imported %v, %v; want %q", got, err, c.want)
			}
			if !errors.Is(err, svc.Unprocessable) || svc.CodeOf(err) != "seed_failed" {
				t.Errorf("got kind of %#v", svc.AsError(err))
			}
			if n := count(t, v); n != 0 {
				t.Errorf("%d keys stayed", n)
			}
		})
	}
}

func TestSeedOtherForms(t *testing.T) {
	t.Parallel()
	in := open(t, bindingtest.OpenVolumes(t, t.TempDir()))
	if _, err := seedAs(t, in, "seed/KV.json", "[]"); svc.CodeOf(err) != "seed_failed" || !strings.Contains(err.Error(), "seed/KV.json: a key-value namespace is seeded by .jsonl files") {
		t.Errorf("got %v", err)
	}
	s := bundle.Seeds{Binding: "KV", Files: []bundle.File{{Path: "seed/KV.jsonl"}}}
	if _, err := seeder(t, in).Seed(t.Context(), s, fstest.MapFS{}); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, svc.Unprocessable) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := seeder(t, in).Seed(t.Context(), s, broken{}); !errors.Is(err, io.ErrNoProgress) || errors.Is(err, svc.Unprocessable) {
		t.Errorf("a disk that fails: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := seeder(t, in).Seed(ctx, s, endless{cancel}); !errors.Is(err, context.Canceled) || errors.Is(err, svc.Unprocessable) {
		t.Errorf("interrupted: %v", err)
	}
	want(t, in, "GET", "/", "", `200 {"keys":[],"list_complete":true}`)
}

// A value that takes more than a reader's buffer is taken in both forms.
func TestSeedLarge(t *testing.T) {
	t.Parallel()
	in := open(t, bindingtest.OpenVolumes(t, t.TempDir()))
	value := strings.Repeat("x", 1<<20)
	text := `{"key":"text","value":"` + value + `"}` + "\n" + `{"key":"bytes","base64":true,"value":"` + base64.StdEncoding.EncodeToString([]byte(value)) + `"}`
	if _, err := seed(t, in, text); err != nil {
		t.Fatalf("%.300v", err)
	}
	for _, key := range []string{"/text", "/bytes"} {
		if got := do(t, in, "GET", key, ""); got != "200 "+value {
			t.Errorf("%s has %d bytes", key, len(got))
		}
	}
}

// broken and endless are files whose reading fails, and never ends until
// a reader gives up.
type (
	broken  struct{}
	endless struct{ cancel func() }
)

func (broken) Open(string) (fs.File, error) {
	return file{func([]byte) (int, error) { return 0, io.ErrNoProgress }}, nil
}

func (e endless) Open(string) (fs.File, error) {
	n := 0
	return file{func(p []byte) (int, error) {
		if n++; n == 3 {
			e.cancel()
		}
		return copy(p, "{\"key\":\"k\",\"value\":\"v\"}\n"), nil
	}}, nil
}

type file struct{ read func([]byte) (int, error) }

func (f file) Read(p []byte) (int, error) { return f.read(p) }
func (f file) Close() error               { return nil }
func (f file) Stat() (fs.FileInfo, error) { return nil, errors.ErrUnsupported }

func FuzzSeed(f *testing.F) {
	for _, line := range []string{`{"key":"k","value":"v"}`, `{"key":"k","value":"dg==","base64":true,"metadata":{},"expiration":4000000000}`, "[]", "{}", `{"key":"k","value":"v","expiration_ttl":9223372036854775807}`} {
		f.Add(line)
	}
	v := bindingtest.OpenVolumes(f, f.TempDir())
	in, err := kv.Kind{}.Open(f.Context(), bundle.Binding{Name: "KV", Kind: "kv", Resource: "ns"}, v)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		imported, err := seed(t, in, text)
		if err != nil && (svc.CodeOf(err) != "seed_failed" || count(t, v) != 0) {
			t.Errorf("%q: %v, %d keys", text, err, count(t, v))
		}
		if err == nil { // nothing else is written, and writing is slow
			if len(imported) != 1 {
				t.Errorf("%q was not read", text)
			}
			empty(t, v)
		}
	})
}

// empty deletes all keys, and what says that the seed was imported.
func empty(t *testing.T, v volume.Volumes) {
	t.Helper()
	db, err := v.Database(t.Context(), "sys")
	if err == nil {
		err = db.Write(t.Context(), func(c *raw.Conn) error { return c.Script("DELETE FROM kv_entry; DELETE FROM kv_seed") })
	}
	if err != nil {
		t.Fatal(err)
	}
}
