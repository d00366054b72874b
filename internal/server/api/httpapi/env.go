package httpapi

import (
	"context"
	"fmt"

	"github.com/svcctl/svcctl/internal/server/api/httpapi/oas"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// GetEnv answers GET .../env [D28]. spec: [C5.20].
func (h handlers) GetEnv(ctx context.Context, r oas.GetEnvRequestObject) (oas.GetEnvResponseObject, error) {
	e, err := h.Environments.Environment(ctx, svc.Ref{Project: r.Project, Version: r.Version})
	if err != nil {
		return nil, err
	}
	out := envOut(e)
	if exchangeOf(ctx).role != roleAdmin { // a token that reads, without secrets
		for i := range out.Body.Items {
			out.Body.Items[i].Value = fmt.Sprintf("(hidden, %d bytes)", len(out.Body.Items[i].Value))
		}
	}
	return oas.GetEnv200JSONResponse{EnvJSONResponse: out}, nil
}

// SetEnv answers PUT .../env [D27]. spec: [C5.21].
func (h handlers) SetEnv(ctx context.Context, r oas.SetEnvRequestObject) (oas.SetEnvResponseObject, error) {
	change := svc.EnvChange{Vars: r.Body.Vars}
	if match := r.Params.IfMatch; match != nil {
		change.Match = func(e svc.Environment) error {
			if matches(*match, envTag(e)) {
				return nil
			}
			return svc.Errorf(svc.Precondition, svc.CodeETagMismatch, "the environment does not match the ETag in If-Match").
				WithHint("read the environment again and retry with its current ETag")
		}
	}
	e, err := h.Lifecycle.SetEnv(ctx, svc.Ref{Project: r.Project, Version: r.Version}, change)
	if err != nil {
		return nil, err
	}
	return oas.SetEnv200JSONResponse{EnvJSONResponse: envOut(e)}, nil
}

func envOut(e svc.Environment) oas.EnvJSONResponse {
	items := each(e.Entries(), func(v svc.EnvEntry) api.EnvEntry {
		return api.EnvEntry{
			Key: v.Key, Value: v.Value, Source: api.EnvSource(v.Source),
			Shadowed: each(v.Shadowed, func(s svc.EnvSource) api.EnvSource { return api.EnvSource(s) }),
		}
	})
	return oas.EnvJSONResponse{Body: api.EnvList{Items: items}, Headers: oas.EnvResponseHeaders{ETag: envTag(e)}}
}
