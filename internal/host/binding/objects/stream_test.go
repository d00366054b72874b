package objects_test

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/dirstore"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/objects"
)

const streamWorker = `
export default { async fetch(req, env) {
  const key = new URL(req.url).pathname;
  if (req.method === "PUT") return new Response((await env.B.put(key, req.body)).etag);
  const o = await env.B.get(key);
  return new Response(o.body, { headers: { "content-length": String(o.size), etag: o.httpEtag } });
}};`

// A large body goes through in pieces, both ways: what all of it takes of this
// process's memory is far less than the body.
// It is not parallel: it looks at the memory of the whole process.
func TestLargeBodies(t *testing.T) {
	const size, limit = 100 << 20, 24 << 20
	bucket, err := dirstore.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = bucket.Close() })
	set := bindingtest.OpenSet(t, bindingtest.OpenVolumesOn(t, t.TempDir(), bucket), []binding.Kind{objects.Kind{}},
		bundle.Binding{Name: "B", Kind: "object_store", Resource: "bucket"})
	w := bindingtest.Start(t, set, streamWorker)
	w.Stream(t, http.MethodPut, "/small", strings.NewReader("x"), 1, io.Discard)
	before := allocated()
	sum, got := md5.New(), md5.New()
	var etag strings.Builder
	w.Stream(t, http.MethodPut, "/big", io.TeeReader(io.LimitReader(rand.NewChaCha8([32]byte{1}), size), sum), size, &etag)
	want := hex.EncodeToString(sum.Sum(nil))
	if etag.String() != want {
		t.Fatalf("put gives the etag %s, want %s", etag.String(), want)
	}
	put := allocated() - before
	h := w.Stream(t, http.MethodGet, "/big", nil, 0, got)
	if fmt.Sprintf("%x", got.Sum(nil)) != want || h.Get("Etag") != `"`+want+`"` || h.Get("Content-Length") != strconv.Itoa(size) {
		t.Errorf("get gives another body: %v", h)
	}
	t.Logf("allocated for %d MiB: %d KiB by the put, %d KiB by both", size>>20, put>>10, (allocated()-before)>>10)
	if used := allocated() - before; used > limit {
		t.Errorf("%d MiB were allocated, limit %d", used>>20, limit>>20)
	}
}

// allocated is all that was ever allocated, in bytes.
func allocated() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.TotalAlloc)
}
