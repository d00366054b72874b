package esbuild

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

func (b *builder) options() api.BuildOptions {
	r := b.req
	o := api.BuildOptions{
		AbsWorkingDir:       r.Dir,
		EntryPointsAdvanced: []api.EntryPoint{{InputPath: r.Entry, OutputPath: strings.TrimSuffix(b.main, ".js")}},
		Outdir:              r.Dir, // nothing is written; sources of the map become relative to it
		AllowOverwrite:      true,
		Bundle:              true,
		Format:              api.FormatESModule,
		Platform:            api.PlatformBrowser,
		Target:              api.ES2024,
		Supported:           map[string]bool{"import-source": true, "using": true},
		Conditions:          []string{"workerd", "worker", "browser"},
		Define:              b.defines(),
		Loader:              map[string]api.Loader{".js": api.LoaderJSX, ".mjs": api.LoaderJSX, ".cjs": api.LoaderJSX},
		MinifyWhitespace:    r.Minify,
		MinifyIdentifiers:   r.Minify,
		MinifySyntax:        r.Minify,
		KeepNames:           r.KeepNames,
		Tsconfig:            r.TSConfig,
		JSXFactory:          r.JSXFactory,
		JSXFragment:         r.JSXFragment,
		Metafile:            true,
		LogLevel:            api.LogLevelSilent,
		Plugins:             []api.Plugin{b.plugin()},
	}
	if r.SourceMaps {
		o.Sourcemap = api.SourceMapExternal
	}
	return o
}

func (b *builder) defines() map[string]string {
	d := map[string]string{}
	for _, object := range []string{"", "global.", "globalThis."} {
		d[object+"process.env.NODE_ENV"] = `"production"`
	}
	maps.Copy(d, b.req.Define)
	return d
}

// meta is the part of esbuild's metafile that is read.
type meta struct {
	Inputs  map[string]metaInput `json:"inputs"`
	Outputs map[string]struct {
		EntryPoint string   `json:"entryPoint"`
		Exports    []string `json:"exports"`
	} `json:"outputs"`
}

type metaInput struct {
	Imports []struct {
		Path     string `json:"path"`
		Kind     string `json:"kind"`
		External bool   `json:"external"`
	} `json:"imports"`
}

func readMeta(text string) (meta, error) {
	var m meta
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return m, fmt.Errorf("reading esbuild's metafile: %w", err)
	}
	return m, nil
}

// notFiles are the prefixes of inputs that are no files.
//
//nolint:gochecknoglobals // a constant list
var notFiles = []string{requiredBuiltin + ":", requiredModule + ":", missingBuiltin + ":", generatedEntry + ":", "(disabled):"}

// files are the files that were read.
func (m meta) files(dir string) []string {
	var files []string
	for name := range m.Inputs {
		if !slices.ContainsFunc(notFiles, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			files = append(files, filepath.Join(dir, filepath.FromSlash(name)))
		}
	}
	return files
}

// exports of the entry point.
func (m meta) exports() []string {
	for _, o := range m.Outputs {
		if o.EntryPoint != "" {
			return o.Exports
		}
	}
	return nil
}

// output is the entry module as esbuild wrote it.
func (b *builder) output(outputs []api.OutputFile) Module {
	main := Module{Name: b.main, Type: bundle.ESModule}
	for _, o := range outputs {
		switch filepath.Ext(o.Path) {
		case ".js":
			main.Content = o.Contents
		case ".map":
			if strings.HasSuffix(o.Path, ".js.map") {
				main.SourceMap = o.Contents
			}
		}
	}
	return main
}

func (b *builder) mainModule(main Module, m meta) (Module, error) {
	if err := b.checkExports(m.exports()); err != nil {
		return main, err
	}
	main.Content = withoutConstants(main.Content)
	return b.withRequire(main)
}

// checkExports refuses a module without handlers.
func (b *builder) checkExports(exports []string) error {
	if len(exports) > 0 {
		return nil
	}
	return svc.Errorf(svc.Unprocessable, svc.CodeBuildFailed, "%s exports nothing", b.shown(b.req.Entry)).
		WithHint("a worker has a default export, such as: export default { fetch(request, env, ctx) { ... } }")
}

func (b *builder) shown(file string) string {
	if rel, ok := below(b.req.Dir, file); ok {
		return rel
	}
	return file
}

// dynamicRequire finds esbuild's stand-in for a require whose argument is not
// known. It uses a global require when there is one.
var dynamicRequire = regexp.MustCompile(`typeof require\s*(?:!==?\s*"undefined"|<\s*"u")\s*\?\s*require\s*:\s*typeof Proxy`)

const requireBanner = `var require = (id) => { const m = process.getBuiltinModule(String(id)); ` +
	`if (m === undefined) throw Object.assign(new Error("Cannot find module '" + id + "'"), { code: "MODULE_NOT_FOUND" }); return m; };` + "\n"

// withRequire gives a worker that requires what is known only at run time a
// require for Node's modules.
func (b *builder) withRequire(main Module) (Module, error) {
	if b.support.mode != nodeV2 || !dynamicRequire.Match(main.Content) {
		return main, nil
	}
	main.Content = append([]byte(requireBanner), main.Content...)
	var err error
	if main.SourceMap != nil {
		main.SourceMap, err = shiftMap(main.SourceMap, 1)
	}
	return main, err
}

// usesProcess and usesPerformance find what may be a global of Node.
var (
	usesProcess     = regexp.MustCompile(`\bprocess\b`)
	usesPerformance = regexp.MustCompile(`\bPerformance(?:Entry|Mark|Measure|Observer|ObserverEntryList|ResourceTiming)?\b`)
)

// uses reports whether a script of the worker matches. The expression is tried on those with
// the word alone: it takes longer than the rest of a small build.
func (r Result) uses(word string, global *regexp.Regexp) bool {
	return slices.ContainsFunc(r.Modules, func(m Module) bool {
		return (isScript(m.Type) || m.Type == bundle.Script) && bytes.Contains(m.Content, []byte(word)) && global.Match(m.Content)
	})
}

func (b *builder) result(main Module, warnings []api.Message, inputs []string) Result {
	r := Result{Main: main.Name, Modules: []Module{main}, Warnings: append(describeAll(b.req.Dir, warnings), b.missingWarnings()...)}
	for _, name := range slices.Sorted(maps.Keys(b.collected)) {
		if name != main.Name {
			r.Modules = append(r.Modules, b.collected[name])
		}
	}
	for file := range b.files {
		inputs = append(inputs, file)
	}
	slices.SortFunc(inputs, cmp.Compare)
	r.Inputs = slices.Compact(inputs)
	r.Flags = b.support.missing(b.used, r.uses("process", usesProcess), r.uses("Performance", usesPerformance))
	return r
}
