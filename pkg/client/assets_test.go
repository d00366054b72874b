package client_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// asset is a file whose content differs from its announced size if size is not 0.
func asset(hash byte, content string, size int64) client.Asset {
	if size == 0 {
		size = int64(len(content))
	}
	return client.Asset{
		BundleFile: api.BundleFile{Path: "assets/" + string(hash), SHA256: strings.Repeat(string(hash), 64), SizeBytes: size},
		Open:       func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil },
	}
}

// TestUploadAssets: of all files those that the server lacks are sent, in requests of at
// most 16 MiB of content.
func TestUploadAssets(t *testing.T) {
	t.Parallel()
	var asked api.AnnounceAssets
	var requests [][]string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
				t.Error(err)
			}
			reply(w, 200, "application/json", `{"missing":["`+strings.Repeat("b", 64)+`","`+strings.Repeat("c", 64)+`"]}`)
			return
		}
		var names []string
		err := bundle.ReadAssets(r.Context(), r.Body, bundle.Limits{}, func(f bundle.File, body io.Reader) error {
			names = append(names, f.Path)
			_, err := io.Copy(io.Discard, body)
			return err
		})
		if err != nil {
			t.Error(err)
		}
		requests = append(requests, names)
		reply(w, 201, "application/json", `{"files":1,"size_bytes":1}`)
	})
	to := api.Upload{AssetsURL: c.Server() + "/v1/uploads/t/assets"}
	all := []client.Asset{asset('a', "a", 0), asset('b', strings.Repeat("b", 10<<20), 0), asset('b', "again", 0), asset('c', strings.Repeat("c", 10<<20), 0)}
	missing, err := c.MissingAssets(t.Context(), to, all)
	if err != nil || len(missing) != 2 || len(asked.Files) != 4 {
		t.Fatalf("missing %v of %v: %v", missing, asked, err)
	}
	var sent int64
	if err := c.UploadAssets(t.Context(), to, missing, func(n int64) { sent = n }); err != nil || sent != 20<<20 {
		t.Errorf("sent %d: %v", sent, err)
	}
	if len(requests) != 2 || requests[0][0] != "assets/b" || requests[1][0] != "assets/c" {
		t.Errorf("requests: %v", requests)
	}
}

// TestUploadAssetsFails: a file that cannot be read or has changed is named, and the
// server's refusal is the error otherwise.
func TestUploadAssetsFails(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 422, "application/problem+json", `{"code":"asset_mismatch"}`)
	})
	to := api.Upload{AssetsURL: c.Server() + "/v1/uploads/t/assets"}
	gone := asset('g', "", 1)
	gone.Open = func() (io.ReadCloser, error) { return os.Open(filepath.Join(t.TempDir(), "gone.html")) }
	for name, test := range map[string]struct {
		file client.Asset
		want string
	}{
		"gone": {gone, "gone.html"}, "shorter": {asset('s', "a", 2), "assets/s has changed"}, "longer": {asset('l', "abc", 2), "assets/l has changed"},
	} {
		if err := c.UploadAssets(t.Context(), to, []client.Asset{test.file}, nil); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := c.UploadAssets(t.Context(), to, []client.Asset{asset('a', strings.Repeat("a", 1<<20), 0)}, nil); client.CodeOf(err) != "asset_mismatch" {
		t.Errorf("refused: %v", err)
	}
}
