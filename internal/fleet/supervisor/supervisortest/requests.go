package supervisortest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding/kinds"
	"github.com/svcctl/svcctl/internal/svc"
)

func (w *world) spec(t *testing.T, version, code string) svc.RuntimeSpec {
	t.Helper()
	return Spec(t, w.base, version, code)
}

// Spec writes the unpacked bundle of a worker, which has a KV namespace, below base and returns
// its spec. The digest is of no object: a place with other machines copies the directory.
func Spec(t testing.TB, base, version, code string) svc.RuntimeSpec {
	t.Helper()
	dir := filepath.Join(base, version)
	sum := sha256.Sum256([]byte(code))
	m := bundle.Manifest{
		SchemaVersion: bundle.SchemaVersion, Main: "index.js", CompatibilityDate: "2026-11-01", CompatibilityFlags: []string{},
		Modules:  []bundle.Module{{Name: "index.js", Type: bundle.ESModule, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(code))}},
		Bindings: []bundle.Binding{{Name: "KV", Kind: kinds.KV, Resource: "kv"}},
	}
	manifest, err := m.Encode()
	main := filepath.Join(dir, "bundle", bundle.ModulePath("index.js"))
	if err == nil {
		err = os.MkdirAll(filepath.Dir(main), 0o700)
	}
	if err == nil {
		err = errors.Join(os.WriteFile(main, []byte(code), 0o600), os.WriteFile(filepath.Join(dir, "bundle", "manifest.json"), manifest, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	return svc.RuntimeSpec{
		Ref: svc.Ref{Project: "shop", Version: version}, CreatedAt: time.Unix(1_790_000_000, 0), Digest: "sha256:" + hex.EncodeToString([]byte(filepath.Join(dir, "bundle"))),
		Local: svc.LocalSpec{BundleDir: filepath.Join(dir, "bundle"), DataDir: filepath.Join(dir, "data"), LogDir: filepath.Join(dir, "logs")},
	}
}

// BundleOf returns the directory of the bundle with a digest of this package.
func BundleOf(digest string) (string, error) {
	dir, err := hex.DecodeString(strings.TrimPrefix(digest, "sha256:"))
	return string(dir), err
}

func do(ctx context.Context, e svc.Endpoint, method, path, body string) (int, string, error) {
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", e.Socket)
		},
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://worker.test"+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	return answer((&http.Client{Transport: transport}).Do(r))
}

func answer(resp *http.Response, err error) (int, string, error) {
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

func get(ctx context.Context, e svc.Endpoint, path string) (int, string, error) {
	return do(ctx, e, http.MethodGet, path, "")
}

// Want fails unless a worker answers 200 with a body.
func Want(t *testing.T, e svc.Endpoint, path, want string) {
	t.Helper()
	status, body, err := get(t.Context(), e, path)
	if err != nil || status != http.StatusOK || body != want {
		t.Errorf("GET %s: %d %q %v, want %q", path, status, body, err, want)
	}
}

func post(t *testing.T, e svc.Endpoint, path, body string) string {
	t.Helper()
	status, got, err := do(t.Context(), e, http.MethodPost, path, body)
	if err != nil || status != http.StatusOK {
		t.Errorf("POST %s: %d %.100q %v", path, status, got, err)
	}
	return got
}

// direct asks the version's own port.
func direct(t *testing.T, e svc.Endpoint, want string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/", e.Port), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Svc-Port-Key", e.PortKey)
	transport := &http.Transport{DisableKeepAlives: true}
	status, body, err := answer((&http.Client{Transport: transport}).Do(r))
	if err != nil || status != http.StatusOK || body != want {
		t.Errorf("the own port: %d %q %v, want %q", status, body, err, want)
	}
}

// ask sends a request for the data of a version.
func ask(t *testing.T, w *world, ref svc.Ref, path string) (string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := w.Data(ref, r)
	if err != nil {
		return "", err
	}
	_, body, err := answer(resp, nil)
	return body, err
}
