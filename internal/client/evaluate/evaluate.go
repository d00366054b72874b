package evaluate

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/svcctl/svcctl/internal/svc"
)

// Request says which files to evaluate.
type Request struct {
	File    string // absolute path of cloudflare.config.ts
	Tooling string // absolute path of wrangler.config.ts; "" for none
	Mode    string // what the file sees as mode; "" for undefined
	Preview bool   // what it sees as isPreview
	Environ []string

	// Engine returns the path of workerd.
	Engine func(context.Context) (string, error)
}

// Result is what the files export.
type Result struct {
	Worker     json.RawMessage // the worker; nil for none
	Tooling    json.RawMessage // the export of wrangler.config.ts; nil for none
	Own        json.RawMessage // the export svcctl of cloudflare.config.ts; nil for none
	Containers int             // how many the file defines
	Inputs     []string        // the files that were read, absolute and sorted
}

// Config evaluates the files of a request.
func Config(ctx context.Context, req Request) (Result, error) {
	if r, ok := remembered(req); ok {
		return r, nil
	}
	b, err := bundle(req)
	if err != nil {
		return Result{}, err
	}
	if req.Engine == nil {
		return Result{}, notEvaluated(req.File, nil)
	}
	engine, err := req.Engine(ctx)
	if err != nil {
		return Result{}, notEvaluated(req.File, err)
	}
	answer, err := b.run(ctx, engine, req)
	if err != nil {
		return Result{}, err
	}
	r := Result{Worker: answer.Worker, Tooling: answer.Tooling, Own: answer.Own, Containers: answer.Containers, Inputs: b.inputs}
	slices.Sort(r.Inputs)
	remember(req, r)
	return r, nil
}

// notEvaluated is the error of a client without workerd.
func notEvaluated(file string, cause error) error {
	name := filepath.Base(file)
	e := svc.Errorf(svc.Unprocessable, svc.CodeConfigNotEvaluated, "%s is a program, and there is no workerd to evaluate it", name)
	if cause != nil {
		if known := svc.AsError(cause); known.Code != svc.CodeInternal {
			e.Detail += ": " + known.Detail
		}
		e = e.Because(cause)
	}
	return e.WithHint("run svcctl runtime install, or let the build of the project write .cloudflare/output first (npx cf build)")
}
