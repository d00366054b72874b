package build

import (
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/internal/svc"
)

// manifest is what the project file alone says of the manifest: everything but the files.
func manifest(f *project.File) bundle.Manifest {
	m := bundle.Manifest{
		Name: f.Name, CompatibilityDate: f.CompatibilityDate, CompatibilityFlags: f.CompatibilityFlags,
		Vars: f.Vars, Bindings: bindings(f), QueueConsumers: f.Consumers, ObjectClasses: f.ObjectClasses, Crons: f.Crons, TailConsumers: f.TailConsumers,
		Release: f.Release,
	}
	if limits := (bundle.RuntimeLimits{MemoryMB: f.MemoryMB, Subrequests: f.Subrequests}); limits != (bundle.RuntimeLimits{}) {
		m.Limits = &limits
	}
	if a := f.Assets; a != nil {
		m.Assets = &bundle.Assets{Binding: a.Binding, HTMLHandling: a.HTMLHandling, NotFoundHandling: a.NotFoundHandling, RunWorkerFirst: a.WorkerFirst, Pages: a.Pages}
	}
	return m
}

// Check returns what a deploy would refuse of the project file, without the files that it names: the
// error of [bundle.Manifest.Validate]. A check that does not build uses it, so that it says the same as
// a deploy. The compatibility date is left out: it may still be a placeholder.
func Check(f *project.File) error {
	m := manifest(f)
	m.SchemaVersion = bundle.SchemaVersion
	if f.Main != "" || f.ToBuild != "" {
		m.Main = "worker"
	}
	err := m.Validate()
	if err == nil {
		return nil
	}
	fields := slices.DeleteFunc(svc.AsError(err).Fields, func(field svc.FieldError) bool {
		return slices.ContainsFunc([]string{"/main", "/modules", "/compatibility_date"}, func(at string) bool {
			return strings.HasPrefix(field.Pointer, at)
		})
	})
	return svc.Invalid(fields)
}
