package cli

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
)

// flaky is a server whose queue is full once, and that closes the connection of the
// next create and of the first upload after it has read them.
type flaky struct {
	mu      sync.Mutex
	creates []string // their idempotency keys
	uploads int
}

func (f *flaky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodPut {
		if f.uploads++; f.uploads == 1 {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, `{"digest":"sha256:x","size":1}`)
		return
	}
	f.creates = append(f.creates, r.Header.Get("Idempotency-Key"))
	switch len(f.creates) {
	case 1:
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w, `{"code":"queue_full","status":503,"detail":"the deploy queue is full: 1 of 1"}`)
	case 2:
		panic(http.ErrAbortHandler)
	default:
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprintf(w, `{"id":"v1","project_id":"shop","status":"pending","upload":{"method":"PUT","url":"http://%s/v1/uploads/t","headers":{}}}`, r.Host)
	}
}

// TestDeployOverBadNetwork: a lost connection and a full queue cost time, not the
// deploy, and no second version: all creates have one key.
// spec: [C13.10]
func TestDeployOverBadNetwork(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"wrangler.json": `{"name":"shop","main":"w.js","compatibility_date":"2026-11-01"}`,
		"w.js":          `export default { fetch: () => new Response("hi") }`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := &flaky{}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	var out, errs bytes.Buffer
	k := &kit.Kit{Streams: kit.Streams{Out: &out, Err: &errs}, Dir: dir, Environ: []string{"HOME=" + dir, "SVCCTL_DEPLOY_TOKEN=x", "SVCCTL_SERVER=" + server.URL}}
	if code := Main(t.Context(), []string{"deploy"}, k, forms()); code != kit.ExitOK {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	if len(f.creates) != 3 || len(slices.Compact(f.creates)) != 1 || f.creates[0] == "" || f.uploads != 2 {
		t.Errorf("creates with the keys %v, %d uploads", f.creates, f.uploads)
	}
	for _, want := range []string{"the deploy queue is full: trying again\n", "the connection to the server was lost: trying again\n"} {
		if !strings.Contains(errs.String(), want) {
			t.Errorf("stderr lacks %q: %s", want, errs.String())
		}
	}
}
