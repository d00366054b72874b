package httpapi_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

func files() bundle.Binding {
	return bundle.Binding{Name: "FILES", Kind: "object_store", Resource: "files"}
}

func TestObjects(t *testing.T) {
	t.Parallel()
	h := withData(t, files())
	raw := http.Header{"Content-Type": {"text/html"}, "Svc-Object-Metadata": {`{"custom_metadata":{"a":"\u00e9"}}`}}
	put := func(path, body string) reply {
		t.Helper()
		return h.do(request{method: "PUT", path: v1 + "/objects/FILES/" + path, body: body, header: raw, outside: true})
	}
	put("dir%2Fpage", "<p>bo\x00dy").want(204)
	put("large", strings.Repeat("x", 40<<20)).want(204)
	got := h.do(request{method: "GET", path: v1 + "/objects/FILES/dir%2Fpage", outside: true}).want(200)
	if string(got.body) != "<p>bo\x00dy" || got.Header.Get("Content-Type") != "text/html" || got.Header.Get("X-Content-Type-Options") != "nosniff" ||
		!strings.Contains(got.Header.Get("Svc-Object-Metadata"), `"custom_metadata":{"a":"\u00e9"}`) {
		t.Errorf("%q %v", got.body, got.Header)
	}
	head := h.do(request{method: "HEAD", path: v1 + "/objects/FILES/large", outside: true}).want(200)
	if head.Header.Get("Content-Length") != fmt.Sprint(40<<20) || len(head.body) != 0 {
		t.Errorf("%v, a body of %d bytes", head.Header, len(head.body))
	}
	page := decode[api.ObjectPage](h.get("/objects/FILES?delimiter=/&limit=5000").want(200))
	if len(page.Items) != 1 || page.Items[0].Key != "large" || page.Items[0].SizeBytes != 40<<20 || len(page.Prefixes) != 1 || page.Prefixes[0] != "dir/" || page.NextCursor != nil {
		t.Errorf("%+v", page)
	}
	list := decode[api.BucketList](h.get("/objects").want(200))
	if len(list.Items) != 1 || list.Items[0] != (api.Bucket{Binding: "FILES", Objects: 2, SizeBytes: 40<<20 + 8}) {
		t.Errorf("%+v", list)
	}
	h.do(request{method: "DELETE", path: v1 + "/objects/FILES/large"}).want(204)
	h.get("/objects/FILES/large").wantProblem(404, "object_not_found")
	put(strings.Repeat("k", 1025), "").wantProblem(400, "invalid_key")
	h.do(request{method: "PUT", path: v1 + "/objects/FILES/x", body: "x", header: http.Header{"Svc-Object-Metadata": {"{"}}, outside: true}).wantProblem(400, "invalid_metadata")
	h.do(request{method: "GET", path: v1 + "/objects/FILES?cursor=AAAA"}).wantProblem(400, "invalid_cursor")
	h.do(request{method: "GET", path: v1 + "/objects/NO"}).wantProblem(404, "binding_not_found")
	h.do(request{method: "GET", path: v1 + "/objects/FILES/x", token: deployToken}).wantProblem(403, "forbidden")
	h.move(svc.Ref{Project: "shop", Version: "v-1"}, svc.TriggerArchive)
	h.get("/objects/FILES").wantProblem(409, "version_archived")
}

// TestPagesOfObjects: the maximum of a page of objects is that of the document.
func TestPagesOfObjects(t *testing.T) {
	t.Parallel()
	h := withData(t, files())
	for i := range 203 {
		h.do(request{method: "PUT", path: fmt.Sprintf("%s/objects/FILES/%03d", v1, i), body: "x", outside: true}).want(204)
	}
	for limit, want := range map[string]int{"202": 202, "1000": 203, "5000": 203} {
		page := decode[api.ObjectPage](h.get("/objects/FILES?limit=" + limit).want(200))
		if len(page.Items) != want || (page.NextCursor == nil) != (want == 203) {
			t.Errorf("limit %s: %d objects, want %d", limit, len(page.Items), want)
		}
	}
}

func TestObjectsThroughTheSDK(t *testing.T) {
	t.Parallel()
	h := withData(t, files())
	c, err := client.New(h.url, client.Tokens{Admin: adminToken}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, b := t.Context(), client.R2{Project: "shop", Version: "v-1", Binding: "FILES"}
	expiry := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	keys := []string{"plain", "a/b", "a%2Fb", "é ?#", "a/../b", "//", "..a", strings.Repeat("k", 1024)}
	for _, key := range keys {
		body := strings.Repeat("body of "+key, 100)
		o := client.NewObject{
			HTTP:   api.HTTPMetadata{ContentType: "text/plain", CacheControl: "no-store", CacheExpiry: &expiry},
			Custom: map[string]string{"é": "😀", "b": `"`},
		}
		if err := c.PutObject(ctx, b, key, iotest.OneByteReader(strings.NewReader(body)), int64(len(body)), o); err != nil {
			t.Fatalf("%q: %v", key, err)
		}
		got, r, err := c.GetObject(ctx, b, key)
		if err != nil {
			t.Fatalf("%q: %v", key, err)
		}
		text, err := io.ReadAll(r)
		if err = errors.Join(err, r.Close()); err != nil || string(text) != body {
			t.Errorf("%q: %d bytes, %v", key, len(text), err)
		}
		if got.Key != key || got.SizeBytes != int64(len(body)) || fmt.Sprint(got.CustomMetadata) != `map[b:" é:😀]` || got.HTTPMetadata.CacheControl != "no-store" ||
			got.HTTPMetadata.CacheExpiry == nil || !got.HTTPMetadata.CacheExpiry.Equal(expiry) || got.StorageClass != "Standard" {
			t.Errorf("%+v", got)
		}
	}
	n := 0
	for o, err := range c.AllObjects(ctx, b, "") {
		if err != nil || o.UploadedAt.IsZero() {
			t.Fatalf("%+v, %v", o, err)
		}
		n++
	}
	if n != len(keys) {
		t.Errorf("%d objects", n)
	}
	if err := c.PutObject(ctx, b, "empty", bytes.NewReader(nil), 0, client.NewObject{StorageClass: "InfrequentAccess"}); err != nil {
		t.Error(err)
	}
	if got, r, err := c.GetObject(ctx, b, "empty"); err != nil || got.SizeBytes != 0 || got.StorageClass != "InfrequentAccess" || r.Close() != nil {
		t.Errorf("%+v, %v", got, err)
	}
	page, err := c.Objects(ctx, b, "", "/", client.Page{Limit: 2})
	if err != nil || len(page.Items)+len(page.Prefixes) != 2 || page.NextCursor == nil {
		t.Errorf("%+v, %v", page, err)
	}
	buckets, err := c.Buckets(ctx, "shop", "v-1")
	if err != nil || len(buckets) != 1 || buckets[0].Objects != int64(len(keys)+1) {
		t.Errorf("%+v, %v", buckets, err)
	}
	if err := c.DeleteObject(ctx, b, "a/b"); err != nil {
		t.Error(err)
	}
	if _, _, err := c.GetObject(ctx, b, "a/b"); client.CodeOf(err) != "object_not_found" {
		t.Error(err)
	}
	if err := c.PutObject(ctx, b, "k", strings.NewReader("x"), 1, client.NewObject{StorageClass: "Cold"}); client.CodeOf(err) != "invalid_parameter" {
		t.Error(err)
	}
	for _, key := range []string{"", ".", ".."} {
		if _, _, err := c.GetObject(ctx, b, key); client.CodeOf(err) != "invalid_key" {
			t.Error(err)
		}
	}
}
