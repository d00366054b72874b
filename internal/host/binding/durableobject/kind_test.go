package durableobject_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/durableobject"
	"github.com/svcctl/svcctl/internal/host/durable"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMain(m *testing.M) { svctest.Main(m, nil) }

func TestKind(t *testing.T) {
	t.Parallel()
	good := bundle.Binding{Name: "ROOMS", Kind: "durable_object", Resource: "Room", Config: json.RawMessage(`{"class_name": "Room"}`)}
	if err := (durableobject.Kind{}).Check(good); err != nil {
		t.Error(err)
	}
	for name, d := range map[string]bundle.Binding{
		"no key":    {Config: good.Config},
		"no config": {Resource: "Room"},
		"no class":  {Resource: "Room", Config: json.RawMessage(`{}`)},
	} {
		if err := (durableobject.Kind{}).Check(d); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if w := (durableobject.Kind{}).Wire(good, binding.Site{}); w.Binding.Wrapped == nil || w.Binding.Wrapped.Inner[0].ObjectClass != "Room" {
		t.Errorf("wired as %+v", w)
	}
	in, err := durableobject.Kind{}.Open(t.Context(), good, bindingtest.OpenVolumes(t, t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	stats, err := in.(binding.Measured).Stats(t.Context()) //nolint:forcetypeassert // the kind's own
	if err != nil || stats["objects"] != 0 {
		t.Errorf("stats: %v, %v", stats, err)
	}
}

// TestStats: the objects that are counted are those of the namespace of the version.
func TestStats(t *testing.T) {
	t.Parallel()
	volumes := bindingtest.OpenVolumes(t, t.TempDir())
	db, err := durable.Open(t.Context(), volumes)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Write(t.Context(), func(c *raw.Conn) error {
		return errors.Join(
			c.Exec(`INSERT INTO durable_object (class, name, pages, epoch) VALUES ('n~Room', 'a', 2, 1)`),
			c.Exec(`INSERT INTO durable_object (class, name, pages, epoch) VALUES ('Room', 'a', 1, 1), ('Room', 'b', 1, 1)`))
	})
	if err != nil {
		t.Fatal(err)
	}
	d := bundle.Binding{Name: "ROOMS", Kind: "durable_object", Resource: "Room", Config: json.RawMessage(`{"class_name": "Room"}`)}
	for namespace, want := range map[svc.ObjectNamespace]int64{"": 2, "n": 1, "m": 0} {
		in, err := durableobject.Kind{Namespace: namespace}.Open(t.Context(), d, volumes)
		if err != nil {
			t.Fatal(err)
		}
		stats, err := in.(binding.Measured).Stats(t.Context()) //nolint:forcetypeassert // the kind's own
		if err != nil || stats["objects"] != want {
			t.Errorf("with the namespace %q: %v, %v; want %d objects", namespace, stats, err, want)
		}
	}
}
