//go:build e2e

package e2e

import (
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/coder/websocket"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// TestReleaseGateways releases while requests that write pass two gateways on other machines: by way of the
// server, and to the machines of the versions. None fails, no write is lost, and none is answered by an
// old version. One gateway stops in the hold of a release and continues after the switch, and stops
// with requests in flight under a release that does not wait for them.
func TestReleaseGateways(t *testing.T) {
	t.Parallel()
	settings := []string{"SVC_RELEASE_DRAIN=4s", "SVC_RELEASE_HOLD=9s"}
	for way, start := range map[string]func(*testing.T) *daemon{
		"server": func(t *testing.T) *daemon { t.Helper(); return withGateways(t, settings...) },
		"direct": func(t *testing.T) *daemon { t.Helper(); d, _ := directFleet(t, 2, settings...); return d },
	} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			d := start(t)
			v1 := d.deployHanging()
			a, b := d.gatewayOf("a"), d.gatewayOf("b")
			b.goesBy(way, v1.PreviewURL+"/has?text=x")
			s := d.sendTo(v1.ProdURL, 3, map[string]*http.Client{"a": a.http(), "b": b.http()})
			closed := b.socket(v1)
			s.release(api.ReleaseVersion{VersionID: "v2"}, "a", "b")
			closed()
			s.releaseWithout(b, "v2", "v3")
			if failed := s.failures(); len(failed) > 0 {
				t.Errorf("%d requests failed, first: %s", len(failed), failed[0])
			}
			s.releaseUnder(b, "v4")
			lines := s.end()
			s.checkVersions("v1", "v2", "v3", "v4")
			d.checkLines(v1.ProdURL, lines)
			t.Logf("%d lines, %d requests failed, the longest took %s; %s of b went by the server", len(lines), len(s.failed), s.longest, b.relayed())
			a.stop()
			b.stop()
		})
	}
}

// TestReleaseCutGateway releases while a gateway is cut off from the server before the hold and until the
// switch is over: by its routes, or by all. It has old routes and reaches the machines of the versions, and
// visitors write through it. No write is lost or fails, and none is answered by an old version.
func TestReleaseCutGateway(t *testing.T) {
	t.Parallel()
	d, _ := directFleet(t, 2, "SVC_RELEASE_DRAIN=4s", "SVC_RELEASE_HOLD=9s")
	v1 := d.deployHanging()
	cable := newWire(t, d.gatewaysAt())
	a, b := d.gatewayOf("a"), d.gatewayAt("b", cable.addr)
	b.servesAlone(cable, v1.ProdURL+"/has?text=x")
	s := d.sendTo(v1.ProdURL, 3, map[string]*http.Client{"a": a.http(), "b": b.http()})
	for version, off := range map[string]cutOff{"v2": routes, "v3": everything} {
		s.await("b", 20)
		cable.cut(off)
		s.release(api.ReleaseVersion{VersionID: version}, "a")
		cable.cut(nothing)
		s.await("b", 20)
	}
	lines := s.end()
	if len(s.failed) > 0 {
		t.Errorf("%d requests failed, first: %s", len(s.failed), s.failed[0])
	}
	s.checkVersions("v1", s.switches[0].version, s.switches[1].version)
	d.checkLines(v1.ProdURL, lines)
	t.Logf("%d lines, the longest took %s", len(lines), s.longest)
	a.stop()
	b.stop()
}

// goesBy waits until requests of the gateway take a way.
func (g *remote) goesBy(way, url string) {
	g.d.t.Helper()
	client := g.http()
	svctest.Eventually(g.d.t, "requests of "+g.name+" to go by "+way, func() bool {
		before := g.relayed()
		a, err := fetch(g.d.t.Context(), client, http.MethodGet, url, "")
		return err == nil && a.Status == http.StatusOK && (g.relayed() == before) == (way == "direct")
	})
}

// socket opens a websocket of production through the gateway. closed checks that a release has closed it.
func (g *remote) socket(v api.Version) (closed func()) {
	t := g.d.t
	t.Helper()
	ws, _, err := websocket.Dial(t.Context(), v.ProdURL+"/socket", &websocket.DialOptions{HTTPClient: g.http()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ws.CloseNow() })
	g.d.checkSocket(ws, v.ID)
	return func() {
		t.Helper()
		if got, err := g.d.who(ws); websocket.CloseStatus(err) != websocket.StatusServiceRestart {
			t.Errorf("the websocket of the old version says %q, %v", got, err)
		}
	}
}

// release releases the candidate, and waits for lines through gateways before and after it.
func (s *senders) release(r api.ReleaseVersion, gateways ...string) {
	s.d.t.Helper()
	for _, g := range gateways {
		s.await(g, 20)
	}
	p := s.d.released("ledger", "check", r)
	if p.Status != api.PromotionStatusDone {
		s.d.t.Fatalf("%s: %s %s", r.VersionID, p.Status, p.Error)
	}
	s.switched(r.VersionID)
	for _, g := range gateways {
		s.await(g, 20)
	}
}

// releaseWithout releases while a gateway is stopped from the hold on, until the switch is over.
func (s *senders) releaseWithout(g *remote, production, version string) {
	d := s.d
	d.t.Helper()
	v, err := d.client().Version(d.t.Context(), "ledger", production)
	if err != nil {
		d.t.Fatal(err)
	}
	end := d.hang(v)
	begun, err := d.client().Release(d.t.Context(), "ledger", "check", api.ReleaseVersion{VersionID: version})
	if err != nil {
		d.t.Fatal(err)
	}
	s.held()
	g.pause(syscall.SIGSTOP)
	end()
	if p := d.releaseEnds("ledger", begun.OperationID); p.Status != api.PromotionStatusDone {
		d.t.Errorf("without gateway %s: %s %s", g.name, p.Status, p.Error)
	}
	s.switched(version)
	s.await("a", 20)
	g.pause(syscall.SIGCONT)
	s.await(g.name, 20)
}

// releaseUnder releases while a gateway is stopped with requests in flight. Those may fail, and no
// others.
func (s *senders) releaseUnder(g *remote, version string) {
	t := s.d.t
	t.Helper()
	before := len(s.failures())
	s.await(g.name, 5)
	g.pause(syscall.SIGSTOP)
	p := s.d.released("ledger", "check", api.ReleaseVersion{VersionID: version, LateRequests: api.ReleaseVersionLateRequestsRefuse})
	if p.Status != api.PromotionStatusDone {
		t.Errorf("%s: %s %s", version, p.Status, p.Error)
	}
	s.switched(version)
	s.await("a", 20)
	g.pause(syscall.SIGCONT)
	s.await(g.name, 20)
	for _, failure := range s.failures()[before:] {
		if !strings.HasPrefix(failure, g.name+": 500 ") {
			t.Errorf("a request fails with %s", failure)
		}
	}
}

func (g *remote) pause(signal syscall.Signal) {
	g.d.t.Helper()
	if err := g.cmd.Process.Signal(signal); err != nil {
		g.d.t.Fatal(err)
	}
}
