package esbuild

import (
	"context"
	"path/filepath"
	"strconv"

	"github.com/evanw/esbuild/pkg/api"
)

// Exports returns the names that scripts export, by their paths. These are relative to dir,
// with slashes. Names that a script passes on with "export *" are not among them. A script
// that cannot be parsed is an error as of a build.
func Exports(ctx context.Context, dir string, files []string) (map[string][]string, error) {
	options := parseOnly(dir)
	for i, file := range files { // a.js and a.ts would both become a.js
		options.EntryPointsAdvanced = append(options.EntryPointsAdvanced, api.EntryPoint{InputPath: filepath.Join(dir, filepath.FromSlash(file)), OutputPath: strconv.Itoa(i)})
	}
	built, err := run(ctx, options)
	if err != nil {
		return nil, err
	}
	meta, err := readMeta(built.Metafile)
	if err != nil {
		return nil, err
	}
	exports := map[string][]string{}
	for _, o := range meta.Outputs {
		exports[o.EntryPoint] = o.Exports
	}
	return exports, nil
}

// parseOnly are options that parse scripts and resolve nothing.
func parseOnly(dir string) api.BuildOptions {
	return api.BuildOptions{
		AbsWorkingDir: dir, Outdir: filepath.Join(dir, "out"), AllowOverwrite: true,
		Bundle: true, Format: api.FormatESModule, Target: api.ESNext, Metafile: true, LogLevel: api.LogLevelSilent,
		Plugins: []api.Plugin{{Name: "parse", Setup: func(p api.PluginBuild) {
			p.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
				if args.Kind == api.ResolveEntryPoint {
					return api.OnResolveResult{}, nil
				}
				return external(args.Path), nil
			})
		}}},
	}
}
