package workflow

import (
	"context"
	_ "embed"
	"fmt"
	"regexp"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/kinds"
	"github.com/svcctl/svcctl/internal/host/workerd"
)

// Kind is the kind "workflow". Its zero value is ready.
type Kind struct{}

var _ binding.Kind = Kind{}

// Name is "workflow".
func (Kind) Name() string { return kinds.Workflow }

// Records are the instances, which an export leaves out.
func (Kind) Records() []binding.Table {
	return []binding.Table{{Database: database, Name: "instance"}}
}

var (
	namePattern  = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9_-]{0,63}$`)
	classPattern = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)
)

// Check rejects a workflow without a name or a class.
func (Kind) Check(d bundle.Binding) error {
	c, err := bundle.ConfigOf[kinds.WorkflowConfig](d)
	switch {
	case err != nil:
		return err
	case !namePattern.MatchString(d.Resource):
		return fmt.Errorf("the resource %q, which names the workflow, must have 1 to 64 letters, digits, hyphens and underscores", d.Resource)
	case !classPattern.MatchString(c.ClassName):
		return fmt.Errorf("class_name %q is not the name of a class", c.ClassName)
	}
	return nil
}

// database is the database of all workflows of a version.
const database = volume.OwnPrefix + "workflow"

// Open opens the workflow in the database of the version's workflows.
func (Kind) Open(ctx context.Context, d bundle.Binding, v volume.Volumes) (binding.Instance, error) {
	db, err := v.Database(ctx, database)
	if err != nil {
		return nil, err
	}
	return open(ctx, d, db)
}

var (
	//go:embed engine.js
	engineSource string
	//go:embed api.js
	apiSource string
	//go:embed store.js
	storeSource string
	//go:embed value.js
	valueSource string
)

// runnerDate is the compatibility date of the engine's worker.
const runnerDate = "2026-11-01"

// Wire is a binding of our own, which calls the store in the worker host, and the engine's
// worker, which calls the class and the store. Methods of workerd's own binding are JS RPC:
// each exception would be in the worker's log, also one that the worker handles.
func (Kind) Wire(d bundle.Binding, s binding.Site) binding.Wiring {
	c, _ := bundle.ConfigOf[kinds.WorkflowConfig](d) // Check has read it
	runner, store, route := "workflow:"+d.Resource, "workflow-store:"+d.Resource, binding.Route(d)
	module := func(name, source string) workerd.Module {
		return workerd.Module{Name: name, Type: workerd.ESModule, Source: source}
	}
	reach := func(name string, to workerd.ServiceRef) workerd.Binding {
		return workerd.Binding{Name: name, Service: &to}
	}
	return binding.Wiring{
		Binding: workerd.Binding{Name: d.Name, Wrapped: &workerd.Wrapped{
			Module: "svc-internal:workflow", Inner: []workerd.Binding{reach("store", workerd.ServiceRef{Name: store}), {Name: "resource", Text: &route}},
		}},
		Modules: []workerd.Module{
			module("svc-internal:workflow", apiSource), module("svc-internal:workflow-store", storeSource), module("svc-internal:workflow-value", valueSource),
		},
		Services: []workerd.Service{s.Service(store, d), {Name: runner, Worker: &workerd.Worker{
			Modules:           []workerd.Module{module("engine.js", engineSource), module("store.js", storeSource), module("value.js", valueSource)},
			CompatibilityDate: runnerDate,
			Bindings: []workerd.Binding{
				reach("STORE", workerd.ServiceRef{Name: store}),
				reach("CLASS", workerd.ServiceRef{Name: s.Worker, Entrypoint: c.ClassName}),
			},
		}}},
		Events: []workerd.Binding{reach(runner, workerd.ServiceRef{Name: runner, Entrypoint: "Runner"})},
	}
}
