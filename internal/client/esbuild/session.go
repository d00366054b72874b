package esbuild

import (
	"context"
	"fmt"
	"reflect"

	"github.com/evanw/esbuild/pkg/api"
)

// Session makes the modules of a worker again and again: files that have not
// changed since the last build are not parsed again. The zero value is ready to
// use; the caller closes it. A Session is not safe for concurrent use.
type Session struct {
	req     Request // of the bundler
	builder *builder
	bundler api.BuildContext // nil before the first build
}

// Build makes the modules of a worker. A request that differs from the last one starts
// from the beginning. When ctx ends, Build stops and returns its error.
func (s *Session) Build(ctx context.Context, req Request) (Result, error) {
	if s.bundler == nil || !reflect.DeepEqual(s.req, req) {
		s.Close()
		s.req, s.builder = req, newBuilder(req)
	}
	b := s.builder
	b.reset()
	if req.FindAdditional {
		if err := b.findAdditional(); err != nil {
			return Result{}, err
		}
	}
	if req.NoBundle {
		return b.asIs(ctx)
	}
	if s.bundler == nil {
		bundler, invalid := api.Context(b.options())
		if invalid != nil {
			return Result{}, failure(b.req.Dir, invalid.Errors)
		}
		s.bundler = bundler
	}
	return b.bundle(ctx, s.bundler)
}

// Close ends the session. It may be called again.
func (s *Session) Close() {
	if s.bundler != nil {
		s.bundler.Dispose()
		s.bundler = nil
	}
}

func (b *builder) bundle(ctx context.Context, bundler api.BuildContext) (Result, error) {
	built, err := rebuild(ctx, bundler, b.req.Dir)
	if err != nil {
		return Result{}, err
	}
	meta, err := readMeta(built.Metafile)
	if err != nil {
		return Result{}, err
	}
	main := b.output(built.OutputFiles)
	if len(meta.exports()) == 0 && registersHandlers(main.Content) {
		return b.buildScript(ctx)
	}
	if main, err = b.mainModule(main, meta); err != nil {
		return Result{}, err
	}
	return b.result(main, built.Warnings, meta.files(b.req.Dir)), nil
}

// run is one build of options that ends with ctx.
func run(ctx context.Context, options api.BuildOptions) (api.BuildResult, error) {
	bundler, invalid := api.Context(options)
	if invalid != nil {
		return api.BuildResult{}, failure(options.AbsWorkingDir, invalid.Errors)
	}
	defer bundler.Dispose()
	return rebuild(ctx, bundler, options.AbsWorkingDir)
}

// rebuild builds once. It ends with ctx. dir is the directory that the files of messages are relative to.
func rebuild(ctx context.Context, bundler api.BuildContext, dir string) (api.BuildResult, error) {
	defer context.AfterFunc(ctx, bundler.Cancel)()
	built := bundler.Rebuild()
	if err := ctx.Err(); err != nil {
		return api.BuildResult{}, fmt.Errorf("building the worker: %w", err)
	}
	if len(built.Errors) > 0 {
		return api.BuildResult{}, failure(dir, built.Errors)
	}
	return built, nil
}
