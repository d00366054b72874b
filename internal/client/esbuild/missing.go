package esbuild

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// maxImporters is how many files a warning about a module of Node names.
const maxImporters = 3

// absent is an import of a module of Node that the worker does not have.
func (b *builder) absent(args api.OnResolveArgs) api.OnResolveResult {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.missing[args.Path] == nil {
		b.missing[args.Path] = map[string]bool{}
	}
	b.missing[args.Path][b.shown(args.Importer)] = true
	return api.OnResolveResult{Path: args.Path, Namespace: missingBuiltin}
}

// missingWarnings has a warning for each module of Node that is missing.
func (b *builder) missingWarnings() (list []string) {
	for _, module := range slices.Sorted(maps.Keys(b.missing)) {
		files := slices.Sorted(maps.Keys(b.missing[module]))
		text := strings.Join(files[:min(len(files), maxImporters)], ", ")
		if more := len(files) - maxImporters; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		list = append(list, fmt.Sprintf("%q, imported by %s, fails when it is called: %s", module, text, needsNode))
	}
	return list
}

// loadMissing gives a module whose exports fail when they are called. Every name is an
// export, and has every property: which ones the code uses is not known here.
func loadMissing(args api.OnLoadArgs) (api.OnLoadResult, error) {
	text := fmt.Sprintf(`const fail = (name) => { throw new Error(name + ' is not available: add the compatibility flag "nodejs_compat"'); };
const absent = (name) => new Proxy(function () {}, {
  get: (f, key) => (typeof key === "symbol" || key in f ? f[key] : absent(name + "." + key)),
  apply: () => fail(name),
  construct: () => fail(name),
});
module.exports = Object.create(new Proxy({}, {
  get: (_, key) => (typeof key === "symbol" || key === "__esModule" || key === "then" ? undefined : absent(%q + key)),
}));
`, args.Path+".")
	return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}, nil
}
