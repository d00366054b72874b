package durableobject_test

import (
	"encoding/json"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/durableobject"
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
