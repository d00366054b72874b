package httpapi_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/svcctl/svcctl/internal/server/api/httpapi"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// TestSettled: with SVC_REGISTRY_SYNC=1 a change is answered after its copy, and one whose copy is
// late is an error that says so; reads and refused changes do not wait.
func TestSettled(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	var late atomic.Bool
	h := start(t, func(d *httpapi.Deps) {
		d.Settle = func(context.Context) error {
			if calls.Add(1); late.Load() {
				return errors.New("the object store does not answer")
			}
			return nil
		}
	})
	h.do(request{method: "POST", path: "/v1/projects", body: api.CreateProject{ID: "shop"}}).want(201)
	if n := calls.Load(); n != 1 {
		t.Errorf("a change waited %d times for its copy", n)
	}
	h.do(request{method: "GET", path: "/v1/projects"}).want(200)
	h.do(request{method: "POST", path: "/v1/projects", body: api.CreateProject{ID: "NO"}, outside: true}).want(422)
	if n := calls.Load(); n != 1 {
		t.Errorf("a read or a refused change waited: %d", n)
	}
	late.Store(true)
	r := h.do(request{method: "POST", path: "/v1/projects", body: api.CreateProject{ID: "late"}}).want(503)
	p := decode[api.Problem](r)
	if p.Code != svc.CodeRegistryCopyLate || p.Hint == "" || strings.Contains(p.Detail, `"id"`) {
		t.Errorf("%+v", p)
	}
}
