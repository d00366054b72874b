package project_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestUnderscore: wrangler takes underscores in names of workers, and a project id has hyphens
// in their place, wherever the file names a worker.
func TestUnderscore(t *testing.T) {
	t.Parallel()
	dir := svctest.Files(t, map[string]string{"wrangler.json": `{"name": "my__shop_1", "main": "w.js", "compatibility_date": "2026-01-01",
		"services": [{"binding": "SELF", "service": "my__shop_1"}, {"binding": "USERS", "service": "the_users"}],
		"durable_objects": {"bindings": [{"name": "FAR", "class_name": "Room", "script_name": "the_rooms"}]},
		"tail_consumers": [{"service": "the_sink"}],
		"env": {"pre_view": {"main": "w.js"}}}`})
	f, notices, err := project.Load(dir, project.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if id, err := f.ProjectID(""); id != "my-shop-1" || err != nil {
		t.Errorf("%q, %v", id, err)
	}
	if want := "wrangler.json:1:10: the project id is my-shop-1: host names have no underscores"; !slices.ContainsFunc(notices, func(n project.Notice) bool { return n.String() == want }) {
		t.Errorf("%v, want %s", notices, want)
	}
	for _, named := range []string{"the_users is the project the-users", "the_rooms is the project the-rooms", "the_sink is the project the-sink"} {
		if !slices.ContainsFunc(notices, func(n project.Notice) bool { return strings.HasPrefix(n.Text, "the worker "+named) }) {
			t.Errorf("%v lacks %q", notices, named)
		}
	}
	if want := []project.Service{
		{Binding: "FAR", Name: "the-rooms", Class: "Room"}, {Binding: "SELF", Name: "my-shop-1", Self: true}, {Binding: "USERS", Name: "the-users"},
	}; !reflect.DeepEqual(f.Services, want) {
		t.Errorf("%+v", f.Services)
	}
	if want := []bundle.TailConsumer{{Service: "the-sink"}}; !reflect.DeepEqual(f.TailConsumers, want) {
		t.Errorf("%+v", f.TailConsumers)
	}
	if f, _, err = project.Load(dir, project.Options{Env: "pre_view"}); err != nil || f.Name != "my-shop-1-pre-view" {
		t.Errorf("%+v, %v", f, err)
	}
	for _, name := range []string{"My_shop", "_localhost", "__", "a b_c", "shop"} { // refused, or no such name
		dir := svctest.Files(t, map[string]string{"wrangler.json": `{"name": "` + name + `", "main": "w.js", "compatibility_date": "2026-01-01"}`})
		if f, _, err := project.Load(dir, project.Options{}); err != nil || f.Name != name {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}
