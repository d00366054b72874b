package httpapi_test

import (
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/server/api/httpapi"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// TestReservedProjects: a project cannot have a host name of the server itself. Other names are free,
// and so is one that a project had before the server.
func TestReservedProjects(t *testing.T) {
	t.Parallel()
	h := start(t, func(d *httpapi.Deps) {
		d.PublicURL, d.GatewayURL = "https://Deploy.ingress.local:8790", "http://web.ingress.local"
		d.Hosts = []string{"old.ingress.local", "api.example"}
	})
	create := func(id string) reply {
		return h.do(request{method: "POST", path: "/v1/projects", body: api.CreateProject{ID: id}})
	}
	for _, id := range []string{"api", "www", "admin", "health", "metrics", "v1"} {
		create(id).want(201)
	}
	for _, id := range []string{"deploy", "web", "old"} {
		r := create(id)
		r.want(422)
		if text := string(r.body); !strings.Contains(text, "id_reserved") || !strings.Contains(text, `"/id"`) || !strings.Contains(text, id+".ingress.local is a host name of the server itself") {
			t.Errorf("%s: %s", id, text)
		}
	}
	if _, _, err := h.db.CreateProject(t.Context(), svc.Project{ID: "old"}); err != nil {
		t.Fatal(err)
	}
	create("old").want(200)
}
