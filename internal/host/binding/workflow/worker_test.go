package workflow_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/binding/workflow"
)

func declaration(class string) bundle.Binding {
	return bundle.Binding{Name: "B", Kind: "workflow", Resource: "flow", Config: json.RawMessage(`{"class_name":"` + class + `"}`)}
}

// version is a worker with the workflow "flow".
type version struct {
	*bindingtest.Worker

	set *binding.Set
	db  volume.Database
}

// start runs a worker with the class Flow, on the data in dir.
func start(t *testing.T, dir, source string) *version {
	t.Helper()
	return startOn(t, bindingtest.OpenVolumes(t, dir), source)
}

// startOn is start on the data of a version.
func startOn(t *testing.T, volumes volume.Volumes, source string) *version {
	t.Helper()
	v := &version{set: bindingtest.OpenSet(t, volumes, []binding.Kind{workflow.Kind{}}, declaration("Flow"))}
	v.Worker = bindingtest.Start(t, v.set, source)
	var err error
	if v.db, err = volumes.Database(t.Context(), "own-workflow"); err != nil {
		t.Fatal(err)
	}
	if err := v.set.Start(context.WithoutCancel(t.Context()), v); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.stop(t, time.Minute) })
	return v
}

// stop stops the workflow, as a version that stops does.
func (v *version) stop(t *testing.T, grace time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), grace)
	defer cancel()
	v.set.Stop(ctx)
}

// text reads one value of the database.
func (v *version) text(t *testing.T, query string, args ...any) (text string) {
	t.Helper()
	err := v.db.Read(t.Context(), func(c *raw.Conn) error {
		return c.Query(query, args, func(s *raw.Stmt) error { text = s.Text(0); return nil })
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}
