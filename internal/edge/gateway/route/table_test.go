package route

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
)

func newTestRouter(t testing.TB, template string) *Router {
	t.Helper()
	in, err := svc.NewIngress(svc.IngressConfig{BaseDomain: "apps.test", Port: 80, Template: template})
	if err != nil {
		t.Fatal(err)
	}
	return New(Config{Ingress: in, MaxHeld: 1, MaxConnsPerVersion: 1})
}

// fill adds n projects with a production version and two previews each.
func (r *Router) fill(n int) {
	for i := range n {
		project := fmt.Sprintf("project-%d", i)
		for _, v := range []string{"v1", "v2"} {
			r.SetVersion(svc.Ref{Project: project, Version: v}, svc.Upstream{Status: svc.StatusReady, Endpoint: svc.Endpoint{Socket: "/s"}})
		}
		r.SetProduction(project, "v1")
	}
}

// FuzzLookup checks that the table and svc.Ingress parse a host alike [D3].
func FuzzLookup(f *testing.F) {
	for _, host := range []string{"v1.project-1.apps.test", "PROJECT-0.apps.TEST.:80", "v2--project-1.apps.test:8787", "[::1]:80", "a:b:c", ".", ""} {
		f.Add(host)
	}
	routers := []*Router{newTestRouter(f, ""), newTestRouter(f, "https://{version}--{project}.{baseDomain}")}
	for _, g := range routers {
		g.fill(2)
	}
	f.Fuzz(func(t *testing.T, host string) {
		for _, g := range routers {
			tbl := g.table.Load()
			r, found := tbl.lookup([]byte(host))
			ref, role, ok := g.cfg.Ingress.ParseHost(host)
			known := ok && (role == svc.RoleProduction && tbl.project(ref.Project) != nil ||
				role == svc.RolePreview && tbl.version(ref) != nil)
			_, port, _ := strings.Cut(host, ":")
			if strings.Trim(port, "0123456789") != "" || len(host) > 256 {
				continue // the grammar refuses such hosts, or only ParseHost finds them
			}
			if found != known || found && r.role != role {
				t.Errorf("%q: found %v as %q; ParseHost returns %v %v %v", host, found, r.role, ref, role, ok)
			}
			if found && role == svc.RolePreview && r.version.Ref != ref {
				t.Errorf("%q: %v, want %v", host, r.version.Ref, ref)
			}
		}
	})
}

func BenchmarkLookup(b *testing.B) {
	g := newTestRouter(b, "")
	g.fill(1000)
	hosts := [][]byte{[]byte("v1.project-7.apps.test"), []byte("project-900.apps.test:8787"), []byte("absent.apps.test")}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		g.table.Load().lookup(hosts[i%len(hosts)])
	}
}

func BenchmarkAcquireRelease(b *testing.B) {
	u := newUpstream("/s")
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if u.Acquire() {
				u.Release()
			}
		}
	})
}

// BenchmarkTake measures the path from a Host to the claim of a production host.
func BenchmarkTake(b *testing.B) {
	g := newTestRouter(b, "")
	g.fill(1000)
	x := &Request{}
	x.Req.Host = []byte("project-900.apps.test:8787")
	b.ReportAllocs()
	for b.Loop() {
		if err := g.Take(x, nil); err != nil {
			b.Fatal(err)
		}
		x.Claim.Release()
	}
}

// BenchmarkSetVersion measures a change of one version among many.
func BenchmarkSetVersion(b *testing.B) {
	for _, n := range []int{10, 5000} {
		b.Run(strconv.Itoa(2*n), func(b *testing.B) {
			g := newTestRouter(b, "")
			g.fill(n)
			b.ReportAllocs()
			for b.Loop() {
				g.SetVersion(svc.Ref{Project: "project-7", Version: "v1"}, svc.Upstream{Status: svc.StatusReady, Endpoint: svc.Endpoint{Socket: "/s"}})
			}
		})
	}
}

// TestSharedHostName: of those that have one host name production precedes a version, which
// precedes a preview name; what is left has the name when they are gone.
func TestSharedHostName(t *testing.T) {
	t.Parallel()
	const host = "one.apps.test"
	v := &Version{Ref: svc.Ref{Project: "a", Version: "v1"}, host: host}
	preview, production := &project{id: "a", name: "pr", host: host, prod: "v1"}, &project{id: "b", host: host}
	tbl := (&table{}).with(func(t *table) { t.setVersion(v); t.setPreview(preview); t.setProject(production) })
	var got []route
	for _, change := range []func(*table){
		func(*table) {},
		func(t *table) { t.productionHosts = shards[string, *project]{} },
		func(t *table) { t.removeVersion(v) },
		func(t *table) { t.removePreview(preview) },
	} {
		tbl = tbl.with(change)
		r, found := tbl.lookup([]byte("ONE.apps.test.:80"))
		if listed, ok := tbl.hosts()[host]; ok != found || listed != r {
			t.Errorf("%+v is listed, %+v is routed", listed, r)
		}
		got = append(got, r)
	}
	want := []route{{role: svc.RoleProduction, project: production}, {role: svc.RolePreview, version: v}, {role: svc.RolePreview, project: preview}, {}}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
