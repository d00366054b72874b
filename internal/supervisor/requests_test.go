package supervisor_test

import (
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/branch"
	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/control"
	"github.com/svcctl/svcctl/internal/s3/s3fault"
	"github.com/svcctl/svcctl/internal/s3/s3test"
	"github.com/svcctl/svcctl/internal/supervisor"
)

// Every request of a host to the object store is heard of: also those since the
// last ping of one that is stopped, and those of one that archives.
func TestEveryRequestIsHeardOf(t *testing.T) {
	t.Parallel()
	target := s3test.Target(t)
	_, prefix := s3test.Bucket(t, target)
	way := s3fault.Start(t, target.Endpoint)
	place := control.Place{Bucket: s3test.BucketName(), Prefix: prefix}
	var heard atomic.Int64
	h := start(t, func(c *supervisor.Config) {
		c.PingEvery = time.Hour
		c.OnRequests = func(list []control.Requests) {
			for _, r := range list {
				heard.Add(int64(r.N))
			}
		}
		c.Storage = control.Storage{
			Endpoint: way.Endpoint(), Region: target.Region, AccessKey: target.AccessKey, SecretKey: target.SecretKey.Reveal(),
			Data: place, Manifests: place, Owner: branch.Owner{Host: "h", Session: "s"}, Window: time.Hour,
		}
	})
	spec := h.spec(`export default { async fetch(r, env) { await env.KV.put("n", "1"); return new Response("done") } }`,
		func(m *bundle.Manifest) { m.Bindings = []bundle.Binding{{Name: "KV", Kind: "kv", Resource: "ns"}} })
	before := int64(0)
	expect := func(what string) {
		t.Helper()
		if got, want := heard.Load(), way.Counts().Total(); got != want || got == before {
			t.Errorf("%s: heard of %d requests after %d, and there were %d", what, got, before, want)
		}
		before = heard.Load()
	}
	h.want(h.mustServe(spec), "/", "done")
	if err := h.StopVersion(t.Context(), spec.Ref); err != nil {
		t.Fatal(err)
	}
	expect("stop")
	if err := h.Archive(t.Context(), spec, func() error { return os.RemoveAll(spec.DataDir) }); err != nil {
		t.Fatal(err)
	}
	expect("archive")
}
