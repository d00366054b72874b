package httpapi_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/server/api/httpapi"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// Summary implements httpapi.Traffic: one version.
func (*fakes) Summary(window time.Duration) svc.TrafficSummary {
	one := svc.Traffic{Requests: 3, Errors: 1, Exceptions: 1, Bytes: 512, P50: 1500 * time.Microsecond, P95: time.Second, Samples: []int64{0, 3}, ErrorSamples: []int64{0, 1}}
	total := one
	total.P95Samples = []time.Duration{0, time.Second}
	return svc.TrafficSummary{
		Window: window, Sample: 5 * time.Second, Total: total,
		Projects: map[string]svc.Traffic{"shop": one}, Versions: map[svc.Ref]svc.Traffic{{Project: "shop", Version: "v-1"}: one},
	}
}

// State implements httpapi.State: a server that was backed up a while ago.
func (*fakes) State(context.Context) (svc.ServerState, error) {
	return svc.ServerState{
		DataDir: "/var/lib/svcctl", DiskTotal: 40 << 30, DiskFree: 10 << 30, RegistryBehind: 1500 * time.Millisecond, DataBehind: 2 * time.Second,
		BackupAt: time.Unix(1_790_000_000, 0), BackupTo: "/mnt/backup",
	}, nil
}

// Certificates implements httpapi.Certificates: one in a file that was damaged since.
func (*fakes) Certificates(context.Context) ([]svc.Certificate, error) {
	return []svc.Certificate{{Names: []string{"*.apps.example.com"}, Issuer: "CA", NotAfter: time.Unix(1_790_000_000, 0), File: "/etc/cert.pem", Error: "no PEM"}}, nil
}

// CertificateOrders implements httpapi.Certificates.
func (*fakes) CertificateOrders() []svc.CertificateOrder {
	return []svc.CertificateOrder{
		{Host: "v1.apps.example.com", State: svc.OrderFailed, Failures: 2, Error: "no address", RetryAt: time.Unix(1_790_000_000, 0)},
		{Host: "v2.apps.example.com", State: svc.OrderRunning},
	}
}

// Machines implements httpapi.Machines: a machine, and a pod that waits.
func (*fakes) Machines() []svc.Node {
	return []svc.Node{
		{Name: "m1", ID: "abc", Spares: 2, Versions: []svc.Ref{{Project: "shop", Version: "v-1"}, {Project: "shop", Version: "v-2"}}, RSSBytes: 40 << 20, AnsweredAt: time.Unix(1_790_000_000, 0)},
		{Name: "pod-1", ID: "def", Node: "node-a", Spares: 1},
	}
}

// Gateways implements httpapi.Gateways: the server's own one, and one that is behind.
func (*fakes) Gateways() []svc.Gateway {
	return []svc.Gateway{
		{Name: "server", Own: true, Address: "127.0.0.1:8787", Listens: "127.0.0.1:8787", Connected: true, Generation: 12},
		{Name: "edge", Address: "10.0.0.2:40000", Listens: "0.0.0.0:8787", Version: "v1", ConnectedAt: time.Unix(1_790_000_000, 0), Generation: 10, Behind: 2, Requests: 7, Inflight: 1, Websockets: 3},
	}
}

// TestGateways: the list of gateways has what they have reported.
func TestGateways(t *testing.T) {
	t.Parallel()
	h := start(t)
	c, err := client.New(h.url, client.Tokens{Admin: adminToken}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	list, err := c.Gateways(t.Context())
	if err != nil || len(list.Items) != 2 || !list.Items[0].Own || list.Items[0].ReportedAt != nil {
		t.Fatalf("%+v, %v", list, err)
	}
	if g := list.Items[1]; g.Name != "edge" || g.Connected || g.Behind != 2 || g.Generation != 10 || g.Requests != 7 || g.Inflight != 1 || g.Websockets != 3 || g.ConnectedAt.Unix() != 1_790_000_000 {
		t.Errorf("%+v", g)
	}
	h.do(request{method: "GET", path: "/v1/gateways", token: deployToken}).want(403)
}

// TestOverview: the server, its queue, its traffic, and the versions of all projects.
func TestOverview(t *testing.T) {
	t.Parallel()
	h := start(t, func(d *httpapi.Deps) {
		d.GatewayURL = "http://127.0.0.1:8787"
		d.Settings = []svc.SettingValue{{Name: "SVC_ADMIN_TOKEN", Value: "[redacted]", Secret: true, Source: "environment"}, {Name: "SVC_QUEUE_MAX", Value: "10", Source: "default"}}
	})
	h.project("shop")
	h.project("blog")
	h.ready("shop", "v-1")
	h.version("blog", "v-2")
	c, err := client.New(h.url, client.Tokens{Admin: adminToken}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	server, err := c.ServerInfo(t.Context())
	if err != nil || server.Version != "v0-test" || server.BaseDomain != "ingress.local" || server.QueueMax != 10 || len(server.Settings) != 2 || server.Settings[0].Value != "(hidden)" || server.Settings[1].Value != "10" {
		t.Errorf("got %+v, %v", server, err)
	}
	if s := server.State; s.DataDir != "/var/lib/svcctl" || s.DiskFreeBytes != 10<<30 || s.ObjectStore != "embedded" || s.RegistryBehindSeconds != 1.5 || s.DataBehindSeconds != 2 ||
		!s.RegistryCopiedAt.IsZero() || s.BackupAt.Unix() != 1_790_000_000 || s.BackupTo != "/mnt/backup" {
		t.Errorf("state: %+v", s)
	}
	certificates, err := c.Certificates(t.Context())
	if err != nil || len(certificates.Items) != 1 || certificates.Items[0].Names[0] != "*.apps.example.com" || certificates.Items[0].NotAfter.Unix() != 1_790_000_000 || certificates.Items[0].Error != "no PEM" {
		t.Errorf("certificates: %+v, %v", certificates, err)
	}
	if o := certificates.Orders; len(o) != 2 || o[0].Host != "v1.apps.example.com" || o[0].Failures != 2 || o[0].RetryAt.Unix() != 1_790_000_000 || o[1].State != api.CertificateOrderStateRunning || !o[1].RetryAt.IsZero() {
		t.Errorf("orders: %+v", o)
	}
	nodes, err := c.Nodes(t.Context())
	if err != nil || len(nodes.Items) != 2 || nodes.Items[0].Name != "m1" || nodes.Items[0].Spares != 2 || nodes.Items[0].Versions[0] != "shop/v-1" ||
		nodes.Items[0].RSSBytes != 40<<20 || nodes.Items[0].AnsweredAt.Unix() != 1_790_000_000 || nodes.Items[1].Node != "node-a" || nodes.Items[1].Versions == nil {
		t.Errorf("nodes: %+v, %v", nodes, err)
	}
	found, err := c.Checkup(t.Context())
	if err != nil || len(found.Items) != 1 || found.Items[0].Check != "file descriptors" || found.Items[0].Status != api.FindingStatusWarning || found.Items[0].Advice == "" {
		t.Errorf("checkup: %+v, %v", found, err)
	}
	queue, err := c.DeployQueue(t.Context())
	if err != nil || queue.Max != 10 || len(queue.Items) != 2 || queue.Items[1].VersionID != "v-2" || queue.Items[1].Position != 2 || queue.Items[1].Running {
		t.Errorf("got %+v, %v", queue, err)
	}
	sum, err := c.MetricsSummary(t.Context(), time.Minute)
	if err != nil || sum.WindowSeconds != 60 || sum.Total.Requests != 3 || sum.Versions[0].VersionID != "v-1" || sum.Projects[0].P50Ms != 1.5 || sum.Projects[0].Samples[1] != 3 {
		t.Errorf("got %+v, %v", sum, err)
	}
	if v := sum.Versions[0]; v.Exceptions != 1 || v.Bytes != 512 || v.P95Samples != nil || len(sum.Total.P95Samples) != 2 || sum.Total.P95Samples[1] != 1000 {
		t.Errorf("exceptions, bytes and p95: %+v, %+v", v, sum.Total)
	}
	page, err := c.SearchVersions(t.Context(), client.VersionQuery{Statuses: []api.VersionStatus{"ready", "failed"}, Since: "1h", Text: "SHOP/"}, client.Page{})
	if err != nil || len(page.Items) != 1 || page.Items[0].ID != "v-1" {
		t.Errorf("got %+v, %v", page, err)
	}
	first := decode[api.VersionPage](h.do(request{method: "GET", path: "/v1/versions?limit=1&pinned=false"}).want(200))
	next := decode[api.VersionPage](h.do(request{method: "GET", path: "/v1/versions?limit=1&pinned=false&cursor=" + *first.NextCursor}).want(200))
	if first.Items[0].ID != "v-2" || next.Items[0].ID != "v-1" || next.NextCursor != nil {
		t.Errorf("pages: %+v, %+v", first, next)
	}
	for path, code := range map[string]string{
		"/v1/versions?status=fine": "invalid_status", "/v1/versions?since=soon": "invalid_parameter", "/v1/versions?size=x": "unknown_parameter", "/v1/versions?label==": "invalid_parameter",
		"/v1/versions?cursor=" + *first.NextCursor: "invalid_cursor", "/v1/metrics/summary?window=1h": "invalid_parameter",
	} {
		h.do(request{method: "GET", path: path, outside: true}).wantProblem(400, code)
	}
	for _, path := range []string{"/v1/server", "/v1/queue", "/v1/metrics/summary", "/v1/versions"} {
		h.do(request{method: "GET", path: path, token: deployToken}).wantProblem(403, "forbidden")
	}
}

// TestNotModified: a client that has a record is not sent it again.
func TestNotModified(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.project("shop")
	h.version("shop", "v-1")
	for _, path := range []string{"/v1/projects/shop", "/v1/projects/shop/versions/v-1"} {
		etag := h.do(request{method: "GET", path: path}).want(200).Header.Get("ETag")
		got := h.do(request{method: "GET", path: path, header: http.Header{"If-None-Match": {`"other", ` + etag}}}).want(304)
		if len(got.body) != 0 || got.Header.Get("ETag") != etag {
			t.Errorf("%s: %q with %v", path, got.body, got.Header)
		}
		h.do(request{method: "GET", path: path, header: http.Header{"If-None-Match": {`"other"`}}}).want(200)
	}
}
