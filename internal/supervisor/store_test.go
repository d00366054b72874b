package supervisor_test

import (
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/branch"
	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/control"
	"github.com/svcctl/svcctl/internal/s3/s3fault"
	"github.com/svcctl/svcctl/internal/s3/s3test"
	"github.com/svcctl/svcctl/internal/supervisor"
)

// TestStoreAway: a runtime that dies while the object store is away is started
// until the store is back, however often that fails.
func TestStoreAway(t *testing.T) {
	t.Parallel()
	target := s3test.Target(t)
	_, prefix := s3test.Bucket(t, target)
	way := s3fault.Start(t, target.Endpoint)
	place := control.Place{Bucket: s3test.BucketName(), Prefix: prefix}
	h := start(t, func(c *supervisor.Config) {
		c.Policy.Limit = 2
		c.Storage = control.Storage{
			Endpoint: way.Endpoint(), Region: target.Region, AccessKey: target.AccessKey, SecretKey: target.SecretKey.Reveal(),
			Data: place, Manifests: place, Owner: branch.Owner{Host: "h", Session: "s"}, Window: 20 * time.Millisecond,
		}
	})
	spec := h.spec(`export default { async fetch(r, env) {
		const n = Number(await env.KV.get("n") ?? 0) + 1; await env.KV.put("n", String(n)); return new Response(String(n)) } }`,
		func(m *bundle.Manifest) { m.Bindings = []bundle.Binding{{Name: "KV", Kind: "kv", Resource: "ns"}} })
	first := h.mustServe(spec)
	h.want(first, "/", "1")
	way.Down(true)
	h.want(first, "/", "2") // acknowledged, and here only
	kill(t, first.PID)
	h.await(supervisor.StateStarting, 3) // a second death would be one too many
	if r := h.Runtimes()[0]; !strings.Contains(r.LastError, "host_exited") {
		t.Errorf("it last died of %q", r.LastError)
	}
	way.Down(false)
	h.want(h.await(supervisor.StateServing, 2), "/", "3")
}
