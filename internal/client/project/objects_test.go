package project_test

import (
	"slices"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// A class keeps the key of its first name; one that is created again after it was deleted
// gets another.
func TestObjectClasses(t *testing.T) {
	t.Parallel()
	f, notices, err := project.Load(svctest.Files(t, map[string]string{"wrangler.jsonc": `{ "main": "w.js", "compatibility_date": "2026-01-01",
		"durable_objects": {"bindings": [{"name": "R", "class_name": "Room"}, {"name": "C", "class_name": "Count"}, {"name": "N", "class_name": "New"}]},
		"migrations": [
			{"tag": "v1", "new_sqlite_classes": ["Chat", "Count"], "new_classes": ["Old"]},
			{"tag": "v2", "renamed_classes": [{"from": "Chat", "to": "Room"}], "deleted_classes": ["Old", "Count"]},
			{"tag": "v3", "new_classes": ["Count"]}]}`}), project.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []bundle.ObjectClass{
		{Name: "Old", Key: "Old", Deleted: true},
		{Name: "Count", Key: "Count", SQL: true, Deleted: true},
		{Name: "Count", Key: "Count.2"},
		{Name: "Room", Key: "Chat", SQL: true},
		{Name: "New", Key: "New", SQL: true},
	}; !slices.Equal(f.ObjectClasses, want) {
		t.Errorf("classes: %+v", f.ObjectClasses)
	}
	if want := []project.ObjectBinding{{"R", "Room", "Chat"}, {"C", "Count", "Count.2"}, {"N", "New", "New"}}; !slices.Equal(f.Objects, want) {
		t.Errorf("bindings: %+v", f.Objects)
	}
	if len(notices) != 1 || notices[0].Level != project.Warning {
		t.Errorf("notices: %v", notices)
	}
}
