package project

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// Module is a module of a worker that a build tool lists.
type Module struct {
	Name string // its path below the base directory, with slashes
	Type string // ESModule, CommonJS, CompiledWasm, Text, Data or JSON
}

// outputTypes are the types of modules. Those with "" are no modules.
//
//nolint:gochecknoglobals // a constant table
var outputTypes = map[string]string{"esm": "ESModule", "cjs": "CommonJS", "wasm": "CompiledWasm", "text": "Text", "data": "Data", "json": "JSON", "sourcemap": ""}

// manifest reads which modules the worker has, and adds its main module to the file. It has none for static
// files alone.
func (f foundFile) manifest(r *reader, top, worker *node) (modules []Module) {
	m := worker.get("manifest")
	if m == nil || !r.is(m, "manifest", kindObject) {
		return nil
	}
	r.members(m, "manifest", []string{"type", "mainModule", "modules"}, nil)
	main := r.text(m.get("mainModule"), "manifest.mainModule")
	if main == "" {
		r.problem(svc.CodeConfigInvalid, "manifest", m.pos, "manifest has no mainModule: run the build of the project again")
		return nil
	}
	bundle := filepath.Join(f.Output, "bundle")
	types := f.listed(r, m)
	if kind := m.get("type"); kind != nil && kind.text == "partial" {
		unlisted(r, m, bundle, types)
	}
	for name, kind := range types {
		if kind != "" && name != main {
			modules = append(modules, Module{name, kind})
		}
	}
	slices.SortFunc(modules, func(a, b Module) int { return strings.Compare(a.Name, b.Name) })
	for _, name := range append([]string{main}, names(modules)...) {
		info, err := os.Lstat(filepath.Join(bundle, filepath.FromSlash(name)))
		if err != nil || !info.Mode().IsRegular() {
			r.problem(svc.CodeConfigInvalid, "manifest.modules", m.pos, "manifest names the module %s, which is no file of %s: run the build of the project again", name, display(f.Root, bundle))
		}
	}
	yes := func(key string) member {
		return member{key, m.pos, &node{kind: kindBool, yes: true, pos: m.pos, raw: []byte("true")}}
	}
	top.members = append(top.members,
		member{"main", m.pos, textNode(filepath.Join(bundle, filepath.FromSlash(main)), m.pos)},
		member{"base_dir", m.pos, textNode(bundle, m.pos)}, yes("no_bundle"), yes("find_additional_modules"))
	return append(modules, Module{main, "ESModule"})
}

func names(modules []Module) (list []string) {
	for _, m := range modules {
		list = append(list, m.Name)
	}
	return list
}

// listed are the modules that the manifest lists, with their types.
func (f foundFile) listed(r *reader, manifest *node) map[string]string {
	types := map[string]string{}
	list := manifest.get("modules")
	if list == nil || !r.is(list, "manifest.modules", kindObject) {
		return types
	}
	for _, m := range list.members {
		at := "manifest.modules." + m.key
		kind := r.text(m.val.get("type"), at+".type")
		to, known := outputTypes[kind]
		switch {
		case !filepath.IsLocal(filepath.FromSlash(m.key)) || path.Clean(m.key) != m.key:
			r.problem(svc.CodeConfigInvalid, "manifest.modules", m.pos, "manifest.modules has %q, which is no path below the bundle", m.key)
		case strings.HasPrefix(kind, "python"):
			r.problem(svc.CodeConfigUnsupported, at, m.pos, "the module %s is Python, which is not supported", m.key)
		case !known:
			r.problem(svc.CodeConfigUnsupported, at, m.pos, "the module %s is of the type %q, which is not supported", m.key, kind)
		default:
			types[m.key] = to
		}
	}
	return types
}

// unlisted adds the files that a partial manifest does not list.
func unlisted(r *reader, manifest *node, bundle string, types map[string]string) {
	err := filepath.WalkDir(bundle, func(file string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		name := filepath.ToSlash(relative(bundle, file))
		if _, listed := types[name]; !listed && slices.Contains([]string{".js", ".mjs"}, path.Ext(name)) {
			types[name] = "ESModule"
		}
		return nil
	})
	if err != nil {
		r.problem(svc.CodeConfigInvalid, "manifest", manifest.pos, "the modules in %s cannot be listed: %v", bundle, err)
	}
}
