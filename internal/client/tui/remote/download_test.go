package remote_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/client/tui/remote"
	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/pkg/client"
)

// TestDownload: values and objects become new files of the person; an error leaves none.
func TestDownload(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Svc-Object-Metadata", `{"key":"a.png"}`)
		if strings.Contains(r.URL.Path, "cut") {
			w.Header().Set("Content-Length", "100")
		}
		if strings.Contains(r.URL.Path, "none") {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write([]byte("\x00data"))
	}))
	t.Cleanup(server.Close)
	c, err := client.New(server.URL, client.Tokens{Admin: "token"}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := remote.Open(t.Context(), c)
	t.Cleanup(r.Close)
	path := filepath.Join(t.TempDir(), "file")
	for _, tc := range []struct {
		key        string
		object, ok bool
	}{{"none", false, false}, {"none", true, false}, {"cut", true, false}, {"value", false, true}, {"value", true, true}} {
		d := state.Download{Project: "shop", Version: "v1", Binding: "B", Key: tc.key, Object: tc.object, Path: path}
		end, _ := r.Download(d)().(state.Downloaded)
		data, missing := os.ReadFile(path)
		if tc.ok != (end.Err == nil) || tc.ok != (missing == nil) || tc.ok && (string(data) != "\x00data" || end.Bytes != 5) {
			t.Fatalf("%+v: %d bytes, %v; the file has %q, %v", tc, end.Bytes, end.Err, data, missing)
		}
		if !tc.ok {
			continue
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
		if end, _ := r.Download(d)().(state.Downloaded); end.Err == nil {
			t.Error("a file was written over")
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}
