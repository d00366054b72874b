package esbuild

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// The namespaces of files that exist only while bundling.
const (
	requiredBuiltin = "svc-builtin" // a builtin as CommonJS
	requiredModule  = "svc-module"  // a module of its own as CommonJS
	missingBuiltin  = "svc-missing" // a builtin that the worker does not have
	generatedEntry  = "svc-entry"   // the entry module of Request.Source
)

// skip marks resolutions that this plugin itself asked for.
type skip struct{}

// plugin decides what stays an import. esbuild calls it from many goroutines.
func (b *builder) plugin() api.Plugin {
	return api.Plugin{Name: "worker", Setup: func(p api.PluginBuild) {
		p.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
			return b.resolve(p, args)
		})
		p.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: requiredBuiltin}, loadBuiltin)
		p.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: requiredModule}, loadModule)
		p.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: missingBuiltin}, loadMissing)
		p.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: generatedEntry}, func(api.OnLoadArgs) (api.OnLoadResult, error) {
			return api.OnLoadResult{Contents: &b.req.Source, Loader: api.LoaderJS, ResolveDir: filepath.Dir(b.req.Entry)}, nil
		})
	}}
}

func (b *builder) resolve(p api.PluginBuild, args api.OnResolveArgs) (api.OnResolveResult, error) {
	var none api.OnResolveResult
	if args.Kind == api.ResolveEntryPoint && b.req.Source != "" {
		return api.OnResolveResult{Path: filepath.Base(b.req.Entry), Namespace: generatedEntry}, nil
	}
	if _, ours := args.PluginData.(skip); ours || args.Kind == api.ResolveEntryPoint {
		return none, nil
	}
	if args.Namespace == requiredBuiltin || args.Namespace == requiredModule {
		return external(args.Path), nil
	}
	if target, ok := b.req.Alias[args.Path]; ok {
		return b.aliased(p, args, target)
	}
	if strings.HasPrefix(args.Path, "cloudflare:") || strings.HasPrefix(args.Path, "workerd:") {
		return external(args.Path), nil
	}
	if name, prefixed, ok := builtin(args.Path); ok {
		return b.node(p, args, name, prefixed)
	}
	return b.module(p, args)
}

func external(path string) api.OnResolveResult {
	return api.OnResolveResult{Path: path, External: true}
}

// aliased resolves what an alias points at: from the project's directory, and
// builtins as if they had been imported.
func (b *builder) aliased(p api.PluginBuild, args api.OnResolveArgs, target string) (api.OnResolveResult, error) {
	if name, prefixed, ok := builtin(target); ok {
		args.Path = target
		return b.node(p, args, name, prefixed)
	}
	if strings.HasPrefix(target, "cloudflare:") {
		return external(target), nil
	}
	return b.found(p.Resolve(target, api.ResolveOptions{
		Kind: args.Kind, Importer: args.Importer, ResolveDir: b.req.Dir, PluginData: skip{},
	})), nil
}

func (b *builder) found(r api.ResolveResult) api.OnResolveResult {
	result := api.OnResolveResult{
		Errors: r.Errors, Warnings: r.Warnings, Path: r.Path, External: r.External,
		Namespace: r.Namespace, Suffix: r.Suffix, PluginData: r.PluginData,
	}
	if !r.SideEffects {
		result.SideEffects = api.SideEffectsFalse
	}
	return result
}

// node handles imports of Node's modules. Without support for them, esbuild
// looks for an npm package of the name, and for its replacement in "browser"
// of a package.json. If both are absent, node:* is a module whose functions fail when
// they are called: much code imports what it never calls.
func (b *builder) node(p api.PluginBuild, args api.OnResolveArgs, name string, prefixed bool) (api.OnResolveResult, error) {
	var has bool
	switch b.support.mode {
	case nodeV2:
		has = true
	case nodeV1:
		has = prefixed && slices.Contains(v1Modules, name)
	case nodeALS:
		has = prefixed && name == "async_hooks"
	case nodeNone:
	}
	switch {
	case has && isRequire(args.Kind):
		b.use(name)
		return api.OnResolveResult{Path: args.Path, Namespace: requiredBuiltin}, nil
	case has:
		b.use(name)
		return external(args.Path), nil
	case prefixed && args.Kind == api.ResolveJSDynamicImport:
		// It fails when it is reached, which code that asks for Node expects.
		return external(args.Path), nil
	case !prefixed:
		return api.OnResolveResult{}, nil
	}
	r := p.Resolve(args.Path, api.ResolveOptions{
		Kind: args.Kind, Importer: args.Importer, ResolveDir: args.ResolveDir, PluginData: skip{},
	})
	if len(r.Errors) == 0 {
		return b.found(r), nil
	}
	return b.absent(args), nil
}

func isRequire(kind api.ResolveKind) bool {
	return kind == api.ResolveJSRequireCall || kind == api.ResolveJSRequireResolve
}

// loadBuiltin gives a builtin to require. It is asked for when the require
// runs, so that code which tries and catches still works.
func loadBuiltin(args api.OnLoadArgs) (api.OnLoadResult, error) {
	text := fmt.Sprintf(`const m = globalThis.process?.getBuiltinModule(%[1]q);
if (m === undefined) throw Object.assign(new Error("Cannot find module '" + %[1]q + "'"), { code: "MODULE_NOT_FOUND" });
module.exports = m;
`, args.Path)
	return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}, nil
}

// loadModule gives a module of its own (text, data, wasm) to require.
func loadModule(args api.OnLoadArgs) (api.OnLoadResult, error) {
	text := fmt.Sprintf("import value from %q;\nmodule.exports = value;\n", args.Path)
	return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}, nil
}

// module handles imports of files that stay modules of their own.
func (b *builder) module(p api.PluginBuild, args api.OnResolveArgs) (api.OnResolveResult, error) {
	var none api.OnResolveResult
	path, _, _ := strings.Cut(args.Path, "?")
	if strings.HasPrefix(path, ".") {
		if name, ok := b.additional[filepath.Join(args.ResolveDir, filepath.FromSlash(path))]; ok {
			return b.moduleImport(args.Kind, name), nil
		}
	}
	if !isImport(args.Kind) {
		return none, nil
	}
	kind, ended := b.rules.forImport(args.Path)
	switch {
	case ended:
		return api.OnResolveResult{Errors: []api.Message{{
			Text: fmt.Sprintf(`the rule for %q is out of force, as an earlier rule of its type has no "fallthrough": true`, args.Path),
		}}}, nil
	case kind == "":
		return none, nil
	}
	r := p.Resolve(path, api.ResolveOptions{
		Kind: args.Kind, Importer: args.Importer, ResolveDir: args.ResolveDir, PluginData: skip{},
	})
	if len(r.Errors) > 0 || r.External || r.Namespace != "file" {
		return b.found(r), nil
	}
	name, err := b.collect(r.Path, kind)
	if err != nil {
		return none, err
	}
	return b.moduleImport(args.Kind, name), nil
}

func isImport(kind api.ResolveKind) bool {
	return kind == api.ResolveJSImportStatement || kind == api.ResolveJSDynamicImport || isRequire(kind)
}

func (b *builder) moduleImport(kind api.ResolveKind, name string) api.OnResolveResult {
	path := b.fromMain(name)
	if isRequire(kind) {
		return api.OnResolveResult{Path: path, Namespace: requiredModule}
	}
	return external(path)
}
