package project_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestServices: the worker itself, other projects, and those that may be missing.
func TestServices(t *testing.T) {
	t.Parallel()
	const head = `{"name": "front", "main": "w.js", "compatibility_date": "2026-01-01", "services": [`
	load := func(services string, missing ...string) (*project.File, error) {
		f, _, err := project.Load(svctest.Files(t, map[string]string{"wrangler.json": head + services + `]}`}), project.Options{AllowMissing: missing})
		return f, err
	}
	f, err := load(`{"binding": "SELF", "service": "front", "entrypoint": "Admin", "props": {"role": "owner"}},
		{"binding": "OLD", "service": "front", "environment": "v1"}, {"binding": "USERS", "service": "users"}`)
	if err != nil {
		t.Fatal(err)
	}
	if want := []project.Service{
		{Binding: "SELF", Name: "front", Self: true, Entrypoint: "Admin", Props: []byte(`{"role":"owner"}`)},
		{Binding: "OLD", Name: "front", Version: "v1"},
		{Binding: "USERS", Name: "users"},
	}; !reflect.DeepEqual(f.Services, want) {
		t.Errorf("%+v", f.Services)
	}
	if f, err = load(`], "durable_objects": {"bindings": [{"name": "OWN", "class_name": "Room", "script_name": "front"},
			{"name": "FAR", "class_name": "Room", "script_name": "rooms", "environment": "v2"}]},
		"migrations": [{"tag": "v1", "new_sqlite_classes": ["Room"]}], "tail_consumers": [{"service": "sink", "environment": "v1"}`, "tail_consumers"); err != nil {
		t.Fatal(err)
	}
	if want := []project.Service{{Binding: "FAR", Name: "rooms", Version: "v2", Class: "Room"}}; !reflect.DeepEqual(f.Services, want) || len(f.Objects) != 1 {
		t.Errorf("objects: %+v, %+v", f.Services, f.Objects)
	}
	if want := []bundle.TailConsumer{{Service: "sink", Version: "v1", Optional: true}}; !reflect.DeepEqual(f.TailConsumers, want) {
		t.Errorf("tail consumers: %+v", f.TailConsumers)
	}
	if f, err = load(`{"binding": "USERS", "service": "users"}`, "services"); err != nil || !f.Services[0].Optional {
		t.Errorf("%+v, %v", f, err)
	}
	for services, want := range map[string]string{
		`{"binding": "USERS"}`: `services[0] has no "service"`,
		`{"service": "users"}`: `services[0] has no "binding"`,
		`{"binding": "USERS", "service": "users", "props": [1]}`: "services[0].props is a list and must be an object",
	} {
		if _, err := load(services); svc.CodeOf(err) != "config_invalid" || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", services, err)
		}
	}
}
