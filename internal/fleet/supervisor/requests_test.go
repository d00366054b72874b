package supervisor_test

import (
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/s3/s3fault"
	"github.com/svcctl/svcctl/internal/data/s3/s3test"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestEveryRequestIsCounted: every request of a host to the object store is reported,
// including those after its last ping and those of an archive.
func TestEveryRequestIsCounted(t *testing.T) {
	t.Parallel()
	target := s3test.Target(t)
	_, prefix := s3test.Bucket(t, target)
	way := s3fault.Start(t, target.Endpoint)
	place := svc.Place{Bucket: s3test.BucketName(), Prefix: prefix}
	var reported atomic.Int64
	h := start(t, func(c *options) {
		c.PingEvery = time.Hour
		c.OnRequests = func(list []svc.RequestCount) {
			for _, r := range list {
				reported.Add(int64(r.N))
			}
		}
		c.Host.Storage = svc.Storage{
			Endpoint: way.Endpoint(), Region: target.Region, AccessKey: target.AccessKey, SecretKey: target.SecretKey.Reveal(),
			Data: place, Manifests: place, Owner: svc.Owner{Node: "h", Session: "s"}, Window: time.Hour,
		}
	})
	spec := h.spec(`export default { async fetch(r, env) { await env.KV.put("n", "1"); return new Response("done") } }`,
		func(m *bundle.Manifest) { m.Bindings = []bundle.Binding{{Name: "KV", Kind: "kv", Resource: "ns"}} })
	before := int64(0)
	expect := func(what string) {
		t.Helper()
		if got, want := reported.Load(), way.Counts().Total(); got != want || got == before {
			t.Errorf("%s: %d requests reported, %d before, %d made", what, got, before, want)
		}
		before = reported.Load()
	}
	h.want(h.mustServe(spec), "/", "done")
	if err := h.StopVersion(t.Context(), spec.Ref); err != nil {
		t.Fatal(err)
	}
	expect("stop")
	if err := h.Archive(t.Context(), spec, func() error { return os.RemoveAll(spec.Local.DataDir) }); err != nil {
		t.Fatal(err)
	}
	expect("archive")
}
