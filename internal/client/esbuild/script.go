package esbuild

import (
	"bytes"
	"context"
	"maps"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/svcctl/svcctl/internal/bundle"
)

// registersHandlers reports whether code that exports nothing is a worker in service-worker format,
// which registers its handlers.
func registersHandlers(code []byte) bool { return bytes.Contains(code, []byte("addEventListener")) }

// buildScript builds a worker in service-worker format: a script that gets other modules
// with require.
func (b *builder) buildScript(ctx context.Context) (Result, error) {
	b = newBuilder(b.req)
	if b.req.FindAdditional {
		if err := b.findAdditional(); err != nil {
			return Result{}, err
		}
		b.bundleScripts()
	}
	options := b.options()
	options.Format = api.FormatCommonJS
	built, err := run(ctx, options)
	if err != nil {
		return Result{}, err
	}
	meta, err := readMeta(built.Metafile)
	if err != nil {
		return Result{}, err
	}
	main := b.output(built.OutputFiles)
	main.Type = bundle.Script
	if main, err = b.withRequire(main); err != nil {
		return Result{}, err
	}
	return b.result(main, built.Warnings, meta.files(b.req.Dir)), nil
}

// bundleScripts has the scripts among the additional modules bundled: require does not
// give the exports of an ES module.
func (b *builder) bundleScripts() {
	maps.DeleteFunc(b.additional, func(_, name string) bool { return isScript(b.collected[name].Type) })
	maps.DeleteFunc(b.collected, func(_ string, m Module) bool { return isScript(m.Type) })
}
