package build

import (
	"context"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/client/esbuild"
	"github.com/svcctl/svcctl/internal/client/pages"
	"github.com/svcctl/svcctl/internal/client/project"
)

// functions makes the worker of the Pages Functions of a project, and returns the text of its
// entry module; "" for a project without any. A _routes.json of the project wins over the paths
// of the functions.
func functions(ctx context.Context, f *project.File) (string, error) {
	if f.Functions == "" {
		return "", nil
	}
	files, err := pages.Files(f.Functions)
	if err != nil {
		return "", err
	}
	exports, err := esbuild.Exports(ctx, f.Functions, files)
	if err != nil {
		return "", err
	}
	w, err := pages.Generate(files, exports)
	if f.Assets.WorkerFirst.All {
		f.Assets.WorkerFirst = bundle.WorkerFirst{Patterns: project.PagesRoutes(w.Routes, nil)}
	}
	return w.Source, err
}
