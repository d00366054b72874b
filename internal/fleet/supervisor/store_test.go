package supervisor_test

import (
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/s3/s3fault"
	"github.com/svcctl/svcctl/internal/data/s3/s3test"
	"github.com/svcctl/svcctl/internal/fleet/supervisor"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestObjectStoreDown: a runtime that crashes during an outage of the object store is
// restarted until the outage ends; failed starts do not count as crashes.
func TestObjectStoreDown(t *testing.T) {
	t.Parallel()
	target := s3test.Target(t)
	_, prefix := s3test.Bucket(t, target)
	way := s3fault.Start(t, target.Endpoint)
	place := svc.Place{Bucket: s3test.BucketName(), Prefix: prefix}
	h := start(t, func(c *options) {
		c.Policy = supervisor.Policy{Min: time.Millisecond, Max: time.Millisecond} // an outage has its own interval
		c.Host.Storage = svc.Storage{
			Endpoint: way.Endpoint(), Region: target.Region, AccessKey: target.AccessKey, SecretKey: target.SecretKey.Reveal(),
			Data: place, Manifests: place, Owner: svc.Owner{Node: "h", Session: "s"}, Window: 20 * time.Millisecond,
		}
	})
	spec := h.spec(`export default { async fetch(r, env) {
		const n = Number(await env.KV.get("n") ?? 0) + 1; await env.KV.put("n", String(n)); return new Response(String(n)) } }`,
		func(m *bundle.Manifest) { m.Bindings = []bundle.Binding{{Name: "KV", Kind: "kv", Resource: "ns"}} })
	first := h.mustServe(spec)
	h.want(first, "/", "1")
	way.Down(true)
	h.want(first, "/", "2") // acknowledged, but only in the local cache
	kill(t, first.PID)
	h.await(svc.RuntimeStarting, 3)
	if r := h.Runtimes()[0]; r.Restarts != 1 || !strings.Contains(r.LastError, "data_unavailable") {
		t.Errorf("runtime: %+v", r)
	}
	way.Down(false)
	h.want(h.await(svc.RuntimeServing, 2), "/", "3")
}
