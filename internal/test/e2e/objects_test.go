//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// pictures is a version whose worker stores objects.
type pictures struct {
	*world
	v api.Version
}

func (p pictures) put(method, key, body string) {
	p.t.Helper()
	if got := p.do(method, p.v.PreviewURL+"/"+key, "", body); got.Status != http.StatusOK {
		p.t.Fatalf("%s %s of %s: %d %s", method, key, p.v.ID, got.Status, got.Body)
	}
}

// has checks the worker's answer for a key, "" for no object.
func (p pictures) has(key, want string) {
	p.t.Helper()
	got := p.served(p.v.PreviewURL + "/" + key)
	if want == "" && got.Status != http.StatusNotFound || want != "" && (got.Status != http.StatusOK || got.Body != want) {
		p.t.Errorf("%s of %s: %d, %d bytes, want %d", key, p.v.ID, got.Status, len(got.Body), len(want))
	}
}

// blobs are the bodies in the object store, of all versions.
func (w *world) blobs() (keys []string) {
	w.t.Helper()
	infos, err := objstore.ListAll(w.t.Context(), w.objects("svc-runtime"), "pictures/")
	if err != nil {
		w.t.Fatal(err)
	}
	for _, info := range infos {
		if strings.Contains(info.Key, "/blobs/") {
			keys = append(keys, info.Key)
		}
	}
	return keys
}

// TestObjects: a child begins with its parent's objects of any size, and after that
// neither sees the other's changes. The child keeps them when it is archived, when
// its runtime is killed, and when the parent is destroyed and collected. When the
// child is destroyed too, they are deleted.
// spec: [C2.7] [C2.11] [C2.13]
func TestObjects(t *testing.T) {
	t.Parallel()
	w := &world{daemon: started(t)}
	soon := []string{"SVC_GC_GRACE=4s", "SVC_LEASE_TTL=1s", "SVC_GC_EVERY=1s"} // not for a fork, which has a quarter of the grace
	const dir = "testdata/pictures"
	deploy := func(id string, args ...string) pictures {
		return pictures{w, w.deploy(dir, append([]string{"--version", id}, args...)...)}
	}
	small, large, parts := "small", strings.Repeat("large ", 100_000), strings.Repeat("0123456789abcdef", 700_000)
	v1 := deploy("v1")
	v1.put("PUT", "small", small)
	v1.put("PUT", "large", large)
	v1.put("POST", "parts", parts)
	v1.put("PUT", "gone", large)
	v1.put("DELETE", "gone", "")

	v2 := deploy("v2", "--parent", "v1")
	both := func(p pictures) {
		p.has("small", small)
		p.has("large", large)
		p.has("parts", parts)
		p.has("gone", "")
	}
	both(v2)
	v1.put("PUT", "large", "overwritten")
	v1.put("DELETE", "parts", "")
	v1.put("PUT", "later", large)
	v2.put("PUT", "mine", large)
	v2.put("DELETE", "small", "")
	v2.put("PUT", "small", small)
	both(v2)
	v2.has("later", "")
	v1.has("mine", "")
	v1.has("large", "overwritten")
	v1.has("parts", "")

	deploy("v3")
	w.ok(dir, "promote", "v3", "--leave-writes")
	w.ok(dir, "versions", "archive", "v2")
	w.restartFor(soon...)
	w.ok(dir, "versions", "delete", "v1", "--yes")
	svctest.Succeeds(w.t, "what only the parent had to be gone", func() error {
		if left := w.blobs(); len(left) != 5 { // large, its three parts, and the child's own
			return fmt.Errorf("%d blobs: %v", len(left), left)
		}
		return nil
	})
	w.restartFor()
	w.ok(dir, "versions", "wake", "v2")
	both(v2)
	v2.has("mine", large)

	v4 := deploy("v4", "--parent", "v2")
	w.ok(dir, "versions", "delete", "v2", "--yes")
	w.kill()
	w.noProcessesLeft()
	if !w.start(soon...) {
		t.Fatalf("the daemon does not start again:\n%s", w.log.String())
	}
	both(v4)
	v4.has("mine", large)
	w.ok(dir, "versions", "delete", "v4", "--yes")
	svctest.Succeeds(w.t, "all bodies to be gone", func() error {
		if left := w.blobs(); len(left) > 0 {
			return fmt.Errorf("%d blobs: %v", len(left), left)
		}
		return nil
	})
}
