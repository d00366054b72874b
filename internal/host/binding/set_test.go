package binding_test

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/svc"
)

// kind is a kind that remembers what became of its instances.
type kind struct {
	name string
	log  *[]string
	fail string // the resource that does not open
}

type instance struct {
	kind
	resource string
}

func (k kind) Name() string { return k.name }

func (k kind) Check(d bundle.Binding) error {
	if d.Resource == "bad" {
		return errors.New("a bad resource")
	}
	return nil
}

func (k kind) Open(_ context.Context, d bundle.Binding, _ volume.Volumes) (binding.Instance, error) {
	switch d.Resource {
	case "":
		return nil, nil
	case k.fail:
		return nil, errors.New("does not open")
	}
	*k.log = append(*k.log, "open "+d.Resource)
	return &instance{k, d.Resource}, nil
}

func (k kind) Wire(d bundle.Binding, s binding.Site) binding.Wiring {
	return binding.Wiring{Binding: workerd.Binding{Name: d.Name}, Services: []workerd.Service{s.Service(k.name+":"+d.Resource, d)}}
}

func (i *instance) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	_, _ = w.Write([]byte(i.resource))
}

func (i *instance) Close() error {
	*i.log = append(*i.log, "close "+i.resource)
	return nil
}

func (i *instance) Migrate(_ context.Context, m bundle.Migrations, _ fs.FS) ([]string, error) {
	if m.Table == "broken" {
		return []string{"0001"}, errors.New("0002 failed")
	}
	return []string{"0001", "0002"}, nil
}

func manifest(bindings ...bundle.Binding) *bundle.Manifest {
	return &bundle.Manifest{Bindings: bindings}
}

func TestSet(t *testing.T) {
	t.Parallel()
	var log []string
	m := manifest(bundle.Binding{Name: "A", Kind: "k", Resource: "one"}, bundle.Binding{Name: "B", Kind: "k", Resource: "one"},
		bundle.Binding{Name: "C", Kind: "k", Resource: "two"}, bundle.Binding{Name: "D", Kind: "k"})
	set, err := binding.OpenAll(t.Context(), []binding.Kind{kind{name: "k", log: &log}}, m, nil)
	if err != nil {
		t.Fatal(err)
	}
	for route, want := range map[string]string{"k/one": "one", "k/two": "two", "k/": `no binding "k/" is open here`, "": `no binding "" is open here`} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader("body"))
		r.Header.Set(binding.RouteHeader, route)
		w := httptest.NewRecorder()
		set.ServeHTTP(w, r)
		if got := strings.TrimSpace(w.Body.String()); got != want {
			t.Errorf("%q: got %q, want %q", route, got, want)
		}
	}
	wirings := set.Wire(binding.Site{Address: "unix:/s"})
	if len(wirings) != 4 || wirings[2].Binding.Name != "C" || wirings[2].Services[0].External.InjectRequestHeaders[0].Value != "k/two" {
		t.Errorf("wired as %+v", wirings)
	}
	if err := errors.Join(set.Close(), set.Close()); err != nil {
		t.Error(err)
	}
	if want := []string{"open one", "open two", "close two", "close one"}; !slices.Equal(log, want) {
		t.Errorf("got %v, want %v", log, want)
	}
}

func TestSetOpenFails(t *testing.T) {
	t.Parallel()
	var log []string
	m := manifest(bundle.Binding{Name: "A", Kind: "k", Resource: "one"}, bundle.Binding{Name: "B", Kind: "k", Resource: "two"})
	_, err := binding.OpenAll(t.Context(), []binding.Kind{kind{name: "k", log: &log, fail: "two"}}, m, nil)
	if err == nil || !strings.Contains(err.Error(), `opening binding "B" (k/two): does not open`) {
		t.Errorf("got %v", err)
	}
	if want := []string{"open one", "close one"}; !slices.Equal(log, want) {
		t.Errorf("got %v, want %v", log, want)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	m := manifest(bundle.Binding{Name: "A", Kind: "queue"}, bundle.Binding{Kind: "k"}, bundle.Binding{Name: "B", Kind: "k", Resource: "bad"},
		bundle.Binding{Name: "C", Kind: "k"}, bundle.Binding{Name: "C", Kind: "k"})
	_, err := binding.OpenAll(t.Context(), []binding.Kind{kind{name: "k"}, kind{name: "j"}}, m, nil)
	var got []string
	for _, f := range svc.AsError(err).Fields {
		got = append(got, f.Pointer+" "+f.Code+": "+f.Detail)
	}
	want := []string{
		`/bindings/0 binding_unknown_kind: binding "A": kind "queue" is not one this program runs (it runs j, k)`,
		`/bindings/1 binding_invalid: a binding of kind "k" has no name`,
		`/bindings/2 binding_invalid: binding "B": a bad resource`,
		`/bindings/4 binding_duplicate: two bindings have the name "C"`,
	}
	if !slices.Equal(got, want) || !errors.Is(err, svc.Unprocessable) {
		t.Errorf("got %q (%v)", got, err)
	}
}

func TestSetMigrate(t *testing.T) {
	t.Parallel()
	var log []string
	m := manifest(bundle.Binding{Name: "A", Kind: "k", Resource: "one"}, bundle.Binding{Name: "D", Kind: "k"})
	set, err := binding.OpenAll(t.Context(), []binding.Kind{kind{name: "k", log: &log}}, m, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		list []bundle.Migrations
		want []string
		err  string
	}{
		"none":    {},
		"applied": {list: []bundle.Migrations{{Binding: "A"}}, want: []string{"A/0001", "A/0002"}},
		"broken":  {list: []bundle.Migrations{{Binding: "A", Table: "broken"}}, want: []string{"A/0001"}, err: "0002 failed"},
		"unknown": {list: []bundle.Migrations{{Binding: "X"}}, err: `binding "X", which the bundle does not declare`},
		"no data": {list: []bundle.Migrations{{Binding: "D"}}, err: `binding "D", whose kind "k" takes none`},
	} {
		got, err := set.Migrate(t.Context(), &bundle.Manifest{Migrations: c.list}, nil)
		if !slices.Equal(got, c.want) || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
}

func (i *instance) Seed(_ context.Context, s bundle.Seeds, _ fs.FS) (done []svc.SeedFile, err error) {
	for _, f := range s.Files {
		*i.log = append(*i.log, f.Path)
		if f.Path == "seed/A.bad" {
			return done, errors.New("it is bad")
		}
		done = append(done, svc.SeedFile{Path: f.Path})
	}
	return done, nil
}

func TestSetSeed(t *testing.T) {
	t.Parallel()
	seeds := func(binding string, paths ...string) bundle.Seeds {
		s := bundle.Seeds{Binding: binding}
		for _, p := range paths {
			s.Files = append(s.Files, bundle.File{Path: p})
		}
		return s
	}
	for name, c := range map[string]struct {
		list []bundle.Seeds
		want []string
		seen int // files that an instance was given
		err  string
	}{
		"none":     {},
		"imported": {list: []bundle.Seeds{seeds("A", "seed/A/1", "seed/A/2"), seeds("B", "seed/B.x")}, want: []string{"A from seed/A/1", "A from seed/A/2", "B from seed/B.x"}, seen: 3},
		"broken":   {list: []bundle.Seeds{seeds("A", "seed/A/1", "seed/A.bad", "seed/A/2"), seeds("B", "seed/B.x")}, want: []string{"A from seed/A/1"}, seen: 2, err: "it is bad"},
		"unknown":  {list: []bundle.Seeds{seeds("A", "seed/A/1"), seeds("X", "seed/X.x")}, err: `binding "X", which the bundle does not declare`},
		"no data":  {list: []bundle.Seeds{seeds("A", "seed/A/1"), seeds("D", "seed/D.x")}, err: `binding "D", whose kind "k" takes none`},
	} {
		var log []string
		m := manifest(bundle.Binding{Name: "A", Kind: "k", Resource: "one"}, bundle.Binding{Name: "B", Kind: "k", Resource: "two"}, bundle.Binding{Name: "D", Kind: "k"})
		set, err := binding.OpenAll(t.Context(), []binding.Kind{kind{name: "k", log: &log}}, m, nil)
		if err != nil {
			t.Fatal(err)
		}
		done, err := set.Seed(t.Context(), &bundle.Manifest{Seeds: c.list}, nil)
		var got []string
		for _, f := range done {
			got = append(got, f.String())
		}
		if !slices.Equal(got, c.want) || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
		if len(log) != 2+c.seen {
			t.Errorf("%s: %v", name, log)
		}
	}
}
