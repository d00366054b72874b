package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// deployAll deploys one worker, or those of several project files, one after another.
func deployAll(ctx context.Context, k *kit.Kit, o deployOptions) error {
	if len(o.configs) == 0 && o.build.project == "" {
		if dir, entry, err := o.build.locate(k); err == nil && entry == "" {
			if o.configs = project.Workers(dir); o.configs != nil {
				o.build.path = "" // the configs are absolute
			}
		}
	}
	if len(o.configs) < 2 {
		if len(o.configs) == 1 {
			o.build.config = o.configs[0]
		}
		return deploy(ctx, k, o)
	}
	order, err := o.together(ctx, k)
	if err != nil {
		return newJob(k, o.job).finish(err)
	}
	for _, w := range order {
		o.dry.together = append(o.dry.together, w.file.Name)
	}
	return deployTogether(ctx, k, o, order)
}

// together reads the project files, and creates the projects that must exist before a deploy.
func (o deployOptions) together(ctx context.Context, k *kit.Kit) ([]configured, error) {
	if o.build.path != "" || o.build.project != "" || o.build.assets != "" || o.dry.outdir != "" {
		return nil, kit.Usagef("an argument, --project, --assets and --outdir are for one worker, and --config names %d", len(o.configs))
	}
	workers, err := o.workers(k)
	if err != nil {
		return nil, err
	}
	order := calledFirst(workers)
	if o.dry.on {
		return order, nil
	}
	return order, createCalled(ctx, k, order)
}

// configured is a worker with its project file.
type configured struct {
	config string // as the command line names it
	file   *project.File
}

// calls are the names of the workers that w calls.
func (w configured) calls() (names []string) {
	for _, s := range w.file.Services {
		if !s.Self {
			names = append(names, s.Name)
		}
	}
	for _, c := range w.file.TailConsumers {
		names = append(names, c.Service)
	}
	return names
}

// needs are the names of the workers that must exist when w is deployed.
func (w configured) needs() (names []string) {
	for _, s := range w.file.Services {
		if !s.Self && !s.Optional {
			names = append(names, s.Name)
		}
	}
	for _, c := range w.file.TailConsumers {
		if !c.Optional {
			names = append(names, c.Service)
		}
	}
	return names
}

// workers reads the project files.
func (o deployOptions) workers(k *kit.Kit) (list []configured, err error) {
	for _, config := range o.configs {
		one := o.build
		one.config = config
		req, err := one.request(k)
		if err != nil {
			return nil, err
		}
		file, _, err := req.Load()
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", config, err)
		case file.Name == "":
			return nil, kit.Usagef("%s has no name, which several workers need", config)
		case slices.ContainsFunc(list, func(w configured) bool { return w.file.Name == file.Name }):
			return nil, kit.Usagef("two wrangler configs have the name %s", file.Name)
		}
		list = append(list, configured{config, file})
	}
	return list, nil
}

// calledFirst orders workers: each after those that it calls, unless they call it too.
func calledFirst(workers []configured) (order []configured) {
	seen := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		i := slices.IndexFunc(workers, func(w configured) bool { return w.file.Name == name })
		if i < 0 || seen[name] {
			return
		}
		seen[name] = true
		for _, called := range workers[i].calls() {
			visit(called)
		}
		order = append(order, workers[i])
	}
	for _, w := range workers {
		visit(w.file.Name)
	}
	return order
}

// createCalled creates the projects of workers that are deployed after one that calls them:
// a deploy is rejected if a project that its worker calls does not exist.
func createCalled(ctx context.Context, k *kit.Kit, order []configured) error {
	for i, w := range order {
		for _, later := range order[i+1:] {
			if name := later.file.Name; slices.Contains(w.calls(), name) {
				if err := ensureProject(ctx, k, name); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func ensureProject(ctx context.Context, k *kit.Kit, id string) error {
	c, err := k.Client()
	if err != nil {
		return err
	}
	if _, err = c.Project(ctx, id); client.CodeOf(err) != svc.CodeProjectNotFound {
		return err
	}
	if _, err = c.CreateProject(ctx, api.CreateProject{ID: id}); err != nil {
		return fmt.Errorf("project %s does not exist and could not be created: %w", id, err)
	}
	k.Notef("created project %s", id)
	return nil
}
