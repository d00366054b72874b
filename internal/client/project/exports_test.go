package project_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// exported is a project file with a section exports, and more keys.
func exported(t *testing.T, exports, more string) (*project.File, []project.Notice, error) {
	t.Helper()
	return project.Load(svctest.Files(t, map[string]string{"wrangler.jsonc": `{ "main": "w.js", "compatibility_date": "2026-01-01", "exports": {` + "\n" + exports + `}` + more + `}`}), project.Options{})
}

// TestExports: a class keeps the key of its first name.
func TestExports(t *testing.T) {
	t.Parallel()
	f, notices, err := exported(t, `
		"Room": { "type": "durable-object", "storage": "sqlite" }, "Plain": { "type": "durable-object", "state": "created", "storage": "legacy-kv" },
		"Chat": { "type": "durable-object", "state": "renamed", "renamed_to": "Talk" }, "Talk": { "type": "durable-object", "state": "renamed", "renamed_to": "Room" },
		"Gone": { "type": "durable-object", "state": "deleted" },
		"Api": { "type": "worker", "cache": { "enabled": true } }, "Job": { "type": "workflow", "name": "job", "limits": { "steps": 9 } }`,
		`, "durable_objects": { "bindings": [{ "name": "ROOM", "class_name": "Room" }] }`)
	if err != nil {
		t.Fatal(err)
	}
	if want := []bundle.ObjectClass{
		{Name: "Gone", Key: "Gone", SQL: true, Deleted: true, Described: true},
		{Name: "Room", Key: "Chat", SQL: true, Described: true},
		{Name: "Plain", Key: "Plain", Described: true},
	}; !slices.Equal(f.ObjectClasses, want) {
		t.Errorf("classes: %+v", f.ObjectClasses)
	}
	if want := []project.ObjectBinding{{"ROOM", "Room", "Chat"}}; !slices.Equal(f.Objects, want) {
		t.Errorf("bindings: %+v", f.Objects)
	}
	if len(notices) != 1 || notices[0].Text != "no effect here: exports.Api.cache, exports.Job.limits" {
		t.Errorf("notices: %v", notices)
	}
}

func TestExportsRefused(t *testing.T) {
	t.Parallel()
	for want, test := range map[string]struct{ exports, more, code string }{
		"wrangler.jsonc:1:68: exports and migrations exclude each other":                {`"A": {"type": "durable-object"}`, `, "migrations": [{"tag": "v1", "new_sqlite_classes": ["A"]}]`, svc.CodeConfigInvalid},
		"wrangler.jsonc:2:6: exports.A is transferred, which is not":                    {`"A": {"type": "durable-object", "state": "transferred", "transferred_to": "b"}`, "", svc.CodeConfigUnsupported},
		"wrangler.jsonc:2:46: exports.A.container is not supported":                     {`"A": {"type": "durable-object", "container": "c"}`, "", svc.CodeConfigUnsupported},
		`wrangler.jsonc:2:1: exports.A has the state "moved"`:                           {`"A": {"type": "durable-object", "state": "moved"}`, "", svc.CodeConfigInvalid},
		`wrangler.jsonc:2:1: exports.A is renamed and has no "renamed`:                  {`"A": {"type": "durable-object", "state": "renamed"}`, "", svc.CodeConfigInvalid},
		`wrangler.jsonc:2:69: exports.A is renamed to "B", which exports does not name`: {`"A": {"type": "durable-object", "state": "renamed", "renamed_to": "B"}`, "", svc.CodeConfigInvalid},
		`wrangler.jsonc:2:1: exports.A is of the type "thing"`:                          {`"A": {"type": "thing"}`, "", svc.CodeConfigUnsupported},
		"exports.A.schedules is not supported":                                          {`"A": {"type": "workflow", "name": "a", "schedules": "* * * * *"}`, "", svc.CodeConfigUnsupported},
	} {
		_, _, err := exported(t, test.exports, test.more)
		if e := svc.AsError(err); svc.CodeOf(err) != test.code || !strings.Contains(e.Detail, strings.TrimPrefix(want[strings.Index(want, ":")+1:], "")[strings.Index(want[strings.Index(want, ":")+1:], " ")+1:]) {
			t.Errorf("want %s, got %v", want, err)
		}
	}
}
