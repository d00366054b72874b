package esbuild_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/client/esbuild"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/host/workerd/workerdtest"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

type files map[string]string

// project writes files into a directory and asks for its worker, src/index.ts
// unless there is another entry.
func project(t testing.TB, f files) esbuild.Request {
	t.Helper()
	dir := t.TempDir()
	req := esbuild.Request{Dir: dir, CompatibilityDate: "2026-11-01", KeepNames: true, SourceMaps: true}
	for name, text := range f {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if base := filepath.Base(name); filepath.Dir(name) == "src" && (base == "index.ts" || base == "index.js" || base == "index.tsx") {
			req.Entry = path
		}
	}
	return req
}

func build(t testing.TB, req esbuild.Request) esbuild.Result {
	t.Helper()
	r, err := once(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// once builds in a session of its own.
func once(ctx context.Context, req esbuild.Request) (esbuild.Result, error) {
	var s esbuild.Session
	defer s.Close()
	return s.Build(ctx, req)
}

func names(r esbuild.Result) []string {
	var list []string
	for _, m := range r.Modules {
		list = append(list, m.Name)
	}
	return list
}

// answer runs a built worker in workerd and gives the JSON it answers with.
func answer(t *testing.T, req esbuild.Request, r esbuild.Result) map[string]any {
	t.Helper()
	dir := svctest.ShortDir(t)
	types := map[bundle.ModuleType]workerd.ModuleType{
		bundle.ESModule: workerd.ESModule, bundle.CommonJS: workerd.CommonJS, bundle.Text: workerd.Text,
		bundle.Data: workerd.Data, bundle.Wasm: workerd.Wasm, bundle.JSON: workerd.JSON,
	}
	w := &workerd.Worker{CompatibilityDate: req.CompatibilityDate, CompatibilityFlags: slices.Concat(req.CompatibilityFlags, r.Flags)}
	for i, m := range r.Modules {
		path := filepath.Join(dir, "m"+string(rune('a'+i)))
		if err := os.WriteFile(path, m.Content, 0o600); err != nil {
			t.Fatal(err)
		}
		w.Modules = append(w.Modules, workerd.Module{Name: m.Name, Type: types[m.Type], Path: path})
	}
	socket := filepath.Join(dir, "s")
	return get(t, workerdtest.Serve(t, workerd.Config{
		Services: []workerd.Service{{Name: "user", Worker: w}},
		Sockets:  []workerd.Socket{{Name: "http", Address: "unix:" + socket, Service: workerd.ServiceRef{Name: "user"}}},
	}, socket))
}

func get(t *testing.T, client *http.Client) map[string]any {
	t.Helper()
	resp, err := client.Get("http://worker/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var value map[string]any
	if err := json.Unmarshal(body, &value); err != nil {
		t.Fatalf("%d: %s", resp.StatusCode, body)
	}
	return value
}

// wasm42 exports answer(), which returns 42.
const wasm42 = "\x00asm\x01\x00\x00\x00\x01\x05\x01\x60\x00\x01\x7f\x03\x02\x01\x00\x07\x0a\x01\x06answer\x00\x00\x0a\x06\x01\x04\x00\x41\x2a\x0b"
