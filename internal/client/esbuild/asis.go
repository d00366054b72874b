package esbuild

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

// asIs uses the files unchanged (no_bundle). It parses them nevertheless: to report
// syntax errors before the worker starts, and to find imports of Node's modules.
func (b *builder) asIs(ctx context.Context) (Result, error) {
	if ext := path.Ext(b.main); !slices.Contains([]string{".js", ".mjs", ".cjs"}, ext) {
		return Result{}, svc.Errorf(svc.Unprocessable, svc.CodeBuildFailed, "%s is not JavaScript, and no_bundle uses files unchanged", b.shown(b.req.Entry)).
			WithHint("point main at the built file, or remove no_bundle")
	}
	content, err := os.ReadFile(b.req.Entry)
	if err != nil {
		return Result{}, fmt.Errorf("reading the entry module: %w", err)
	}
	main := Module{Name: b.main, Type: bundle.ESModule, Content: content}
	if b.req.SourceMaps {
		main.SourceMap = sourceMapBeside(b.req.Entry, content)
	}
	built, err := run(ctx, b.parseOptions())
	if err != nil {
		return Result{}, err
	}
	meta, err := readMeta(built.Metafile)
	if err != nil {
		return Result{}, err
	}
	if err := b.checkImports(meta); err != nil {
		return Result{}, err
	}
	if len(meta.exports()) == 0 && registersHandlers(content) {
		main.Type = bundle.Script
	}
	b.files[b.req.Entry] = true
	return b.result(main, nil, nil), nil
}

// parseOptions parse every script and resolve nothing.
func (b *builder) parseOptions() api.BuildOptions {
	files := []string{b.req.Entry}
	for file, name := range b.additional {
		if isScript(b.collected[name].Type) {
			files = append(files, file)
		}
	}
	slices.Sort(files[1:])
	options := parseOnly(b.req.Dir)
	for i, file := range files { // a.js and a.cjs would both become a.js
		options.EntryPointsAdvanced = append(options.EntryPointsAdvanced, api.EntryPoint{InputPath: file, OutputPath: strconv.Itoa(i)})
	}
	return options
}

// checkImports notes Node's modules, and refuses imports of files that are not
// among the modules.
func (b *builder) checkImports(m meta) error {
	var missing []api.Message
	for input, info := range m.Inputs {
		file := filepath.Join(b.req.Dir, filepath.FromSlash(input))
		importer := b.main
		if name, ok := b.additional[file]; ok {
			importer = name
		}
		for _, imp := range info.Imports {
			if name, _, ok := builtin(imp.Path); ok {
				b.use(name)
			}
			if imp.Kind != "import-statement" || !strings.HasPrefix(imp.Path, ".") {
				continue
			}
			if target := path.Join(path.Dir(importer), imp.Path); target != b.main && !b.has(target) {
				missing = append(missing, api.Message{Text: fmt.Sprintf(
					"%s imports %q, which is not among the modules: with no_bundle, add a rule that names it", input, imp.Path)})
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.SortFunc(missing, func(a, b api.Message) int { return strings.Compare(a.Text, b.Text) })
	return failure(b.req.Dir, missing)
}

func (b *builder) has(name string) bool {
	_, ok := b.collected[name]
	return ok
}
