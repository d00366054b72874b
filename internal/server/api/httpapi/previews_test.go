package httpapi_test

import (
	"net/http"
	"testing"

	"github.com/svcctl/svcctl/internal/server/registry/registrytest"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

func TestPreviews(t *testing.T) {
	t.Parallel()
	h := start(t)
	registrytest.AddProject(t, h.db, "shop")
	registrytest.Add(t, h.db, "shop", "staging", registrytest.ToReady()...)
	const project = "/v1/projects/shop"
	changed := h.do(request{method: "PATCH", path: project, body: map[string]any{"preview_parent": "staging", "preview_env": map[string]any{"MODE": "preview"}}})
	p := decode[api.Project](changed)
	if changed.StatusCode != http.StatusOK || p.PreviewParent != "staging" || p.PreviewEnv["MODE"] != "(hidden, 7 bytes)" {
		t.Fatalf("%d %+v", changed.StatusCode, p)
	}
	body := map[string]any{"preview_name": "feature", "preview_keep": 1}
	made := h.do(request{method: "POST", path: project + "/versions", token: deployToken, body: body})
	v := decode[api.VersionAccepted](made)
	if made.StatusCode != http.StatusAccepted || v.PreviewName != "feature" || v.PreviewNameURL != "http://feature.shop.ingress.local:8787" {
		t.Fatalf("%d %+v", made.StatusCode, v)
	}
	if got := decode[api.Version](h.do(request{method: "GET", path: project + "/versions/" + v.ID})); got.PreviewNameURL != v.PreviewNameURL || *got.ParentVersionID != "staging" {
		t.Errorf("%+v", got)
	}
	registrytest.Move(t, h.db, svc.Ref{Project: "shop", Version: v.ID}, registrytest.ToReady()...)
	list := decode[api.PreviewPage](h.do(request{method: "GET", path: project + "/previews"}))
	one := decode[api.Preview](h.do(request{method: "GET", path: project + "/previews/feature"}))
	if len(list.Items) != 1 || list.Items[0] != one || one.VersionID != v.ID || one.Status != "ready" || one.URL != v.PreviewNameURL || one.Versions != 1 {
		t.Errorf("%+v %+v", list, one)
	}
	if got := h.do(request{method: "DELETE", path: project + "/previews/feature"}); got.StatusCode != http.StatusOK {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
	for _, tc := range []struct {
		request
		status int
		code   string
	}{
		{request{method: "GET", path: project + "/previews/feature"}, http.StatusNotFound, svc.CodePreviewNotFound},
		{request{method: "GET", path: "/v1/projects/nope/previews"}, http.StatusNotFound, svc.CodeProjectNotFound},
		{request{method: "PATCH", path: project, body: map[string]any{"preview_parent": "nope"}}, http.StatusUnprocessableEntity, svc.CodeParentNotFound},
		{request{method: "PATCH", path: project, body: map[string]any{"preview_env": map[string]any{"SVC_X": "1"}}}, http.StatusUnprocessableEntity, svc.CodeEnvReservedKey},
		{request{method: "POST", path: project + "/versions", token: deployToken, body: map[string]any{"preview_name": "staging"}}, http.StatusConflict, svc.CodePreviewNameTaken},
		{request{method: "POST", path: project + "/versions", token: deployToken, body: map[string]any{"preview_fresh": true}}, http.StatusUnprocessableEntity, svc.CodeInvalidPreview},
		{request{method: "POST", path: project + "/versions", token: deployToken, body: map[string]any{"preview_name": "x", "preview_fresh": true, "parent_version_id": "staging"}}, http.StatusUnprocessableEntity, svc.CodeInvalidPreview},
		{request{method: "POST", path: project + "/versions", token: deployToken, body: map[string]any{"preview_name": "x", "id": "x"}}, http.StatusUnprocessableEntity, svc.CodePreviewNameTaken},
		{request{method: "DELETE", path: project + "/previews/x", token: deployToken}, http.StatusForbidden, svc.CodeForbidden},
	} {
		got := h.do(tc.request)
		if code := decode[api.Problem](got).Code; got.StatusCode != tc.status || code != tc.code {
			t.Errorf("%s %s: %d %s, want %d %s", tc.method, tc.path, got.StatusCode, code, tc.status, tc.code)
		}
	}
}
