package httpapi_test

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/server/api/httpapi"
	"github.com/svcctl/svcctl/internal/server/versions/artifact"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

func TestUploads(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	accepted := decode[api.VersionAccepted](h.do(request{
		method: "POST", path: "/v1/projects/shop/versions", token: deployToken, body: api.CreateVersion{ID: "v-1", Upload: true},
	}).want(202))
	u := accepted.Upload
	if u == nil || u.Method != http.MethodPut || u.URL != h.url+"/v1/uploads/ticket-of-v-1" || u.Headers == nil || u.ExpiresAt.IsZero() {
		t.Fatalf("got %+v", u)
	}
	put := request{
		method: "PUT", path: strings.TrimPrefix(u.URL, h.url), token: "none", body: strings.Repeat("b", 1<<16+1),
		header: http.Header{"Content-Type": {"application/octet-stream"}},
	}
	h.do(put).wantProblem(413, "bundle_too_large")
	put.body = "the bundle"
	receipt := decode[api.UploadReceipt](h.do(put).want(201))
	if receipt.Size != 10 || !svc.ValidDigest(receipt.Digest) || h.fakes.stored[svc.Ref{Project: "shop", Version: "v-1"}] != "the bundle" {
		t.Errorf("got %+v, stored %v", receipt, h.fakes.stored)
	}
	p := h.do(put).wantProblem(409, "already_uploaded")
	if strings.Contains(p.Instance, "ticket-of") {
		t.Errorf("instance is %s", p.Instance)
	}
	put.path = "/v1/uploads/unknown-ticket"
	h.do(put).wantProblem(403, "upload_expired")
	put.method = http.MethodGet
	if p := h.do(put).wantProblem(405, "method_not_allowed"); strings.Contains(p.Instance, "ticket-of") {
		t.Errorf("instance is %s", p.Instance)
	}
	if strings.Contains(h.log.String(), "ticket-of") {
		t.Error("a ticket is in the log")
	}
}

// TestChunkedUploadIsLimited: a bundle of unknown length is limited while it is read.
func TestChunkedUploadIsLimited(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	h.do(request{
		method: "POST", path: "/v1/projects/shop/versions", token: deployToken, body: api.CreateVersion{ID: "v-1", Upload: true},
	}).want(202)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, h.url+"/v1/uploads/ticket-of-v-1", struct{ *strings.Reader }{strings.NewReader(strings.Repeat("b", 1<<16+1))})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusRequestEntityTooLarge || len(h.fakes.stored) != 0 {
		t.Errorf("got %d, stored %v", resp.StatusCode, h.fakes.stored)
	}
}

// TestUploadAfterDestroy: a version that is destroyed before its bundle arrives
// accepts none.
func TestUploadAfterDestroy(t *testing.T) {
	t.Parallel()
	bucket := &memstore.Bucket{}
	h := start(t, func(d *httpapi.Deps) {
		d.Uploads = artifact.New(artifact.Config{
			Bucket: bucket, BaseURL: "/v1", Key: []byte("k"), MaxSize: 10, Versions: d.Versions,
			Logger: slog.New(slog.DiscardHandler), Arrived: func(svc.Ref) {},
		})
	})
	h.project("shop")
	accepted := decode[api.VersionAccepted](h.do(request{
		method: "POST", path: "/v1/projects/shop/versions", token: deployToken, body: api.CreateVersion{ID: "v-1", Upload: true},
	}).want(202))
	h.do(request{method: "DELETE", path: "/v1/projects/shop/versions/v-1"}).want(200)
	h.do(request{
		method: "PUT", path: strings.TrimPrefix(accepted.Upload.URL, h.url), token: "none", body: "the bundle",
		header: http.Header{"Content-Type": {"application/octet-stream"}},
	}).wantProblem(410, "version_destroyed")
	if left, err := bucket.List(t.Context(), "", "", 10); err != nil || len(left) != 0 {
		t.Errorf("left in the bucket: %v, %v", left, err)
	}
}

// TestAssetUploads: assets are announced and uploaded with the ticket of the bundle.
func TestAssetUploads(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	accepted := decode[api.VersionAccepted](h.do(request{
		method: "POST", path: "/v1/projects/shop/versions", token: deployToken, body: api.CreateVersion{ID: "v-1", Upload: true},
	}).want(202))
	at := strings.TrimPrefix(accepted.Upload.AssetsURL, h.url)
	hash := strings.Repeat("a", 64)
	ask := request{method: "POST", path: at, token: "none", body: api.AnnounceAssets{Files: []api.BundleFile{
		{Path: "assets/a", SHA256: hash, SizeBytes: 1}, {Path: "assets/empty", SHA256: strings.Repeat("b", 64)},
	}}}
	if got := decode[api.MissingAssets](h.do(ask).want(200)); len(got.Missing) != 1 || got.Missing[0] != hash {
		t.Errorf("missing: %v", got)
	}
	ask.body, ask.outside = map[string]any{"files": []any{}, "more": 1}, true
	h.do(ask).wantProblem(400, "unknown_field")
	large := api.AnnounceAssets{Files: make([]api.BundleFile, 20_000)}
	for i := range large.Files {
		large.Files[i] = api.BundleFile{Path: "assets/" + strings.Repeat("x", 100), SHA256: hash}
	}
	h.do(request{method: "POST", path: at, token: "none", body: large}).want(200)
	put := request{method: "PUT", path: at, token: "none", body: "archive", header: http.Header{"Content-Type": {"application/octet-stream"}}}
	if got := decode[api.AssetsReceipt](h.do(put).want(201)); got.Files != 1 || got.SizeBytes != 7 {
		t.Errorf("receipt: %+v", got)
	}
	put.body = strings.Repeat("b", 1<<16+1)
	h.do(put).wantProblem(413, "bundle_too_large")
	put.path = "/v1/uploads/unknown/assets"
	if p := h.do(put).wantProblem(403, "upload_expired"); strings.Contains(p.Instance, "unknown") {
		t.Errorf("instance is %s", p.Instance)
	}
}
