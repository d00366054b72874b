package ci_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/client/ci"
)

// forge is the comments of one request, behind the API of GitHub or GitLab.
type forge struct {
	bodies map[int]string
	calls  []string
	status int // of writes, if not 0
}

func (f *forge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.calls = append(f.calls, r.Method+" "+r.URL.Path)
	if r.Header.Get("Authorization") != "Bearer secret" && r.Header.Get("PRIVATE-TOKEN") != "secret" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	var sent struct {
		Body string `json:"body"`
	}
	_ = json.NewDecoder(r.Body).Decode(&sent)
	id := 0
	_, _ = fmt.Sscan(r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:], &id)
	switch {
	case r.Method == http.MethodGet:
		f.list(w, r.URL.Query().Get("page"))
	case f.status != 0:
		w.WriteHeader(f.status)
	case r.Method == http.MethodPost:
		f.bodies[1000] = sent.Body
	case r.Method == http.MethodDelete:
		delete(f.bodies, id)
	default:
		f.bodies[id] = sent.Body
	}
}

// list writes a page of 100 comments.
func (f *forge) list(w http.ResponseWriter, page string) {
	list := []map[string]any{}
	for _, id := range slices.Sorted(maps.Keys(f.bodies)) {
		list = append(list, map[string]any{"id": id, "body": f.bodies[id]})
	}
	from := min(len(list), 100*map[string]int{"1": 0, "2": 1, "3": 2}[page])
	_ = json.NewEncoder(w).Encode(list[from:min(len(list), from+100)])
}

func TestComment(t *testing.T) {
	t.Parallel()
	event := filepath.Join(t.TempDir(), "event.json")
	if err := os.WriteFile(event, []byte(`{"action":"opened","number":7,"pull_request":{"number":7}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, env := range map[string]ci.Environ{
		"/repos/octo/shop/issues/7/comments":         {"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "octo/shop", "GITHUB_EVENT_PATH": event, "GITHUB_TOKEN": "secret"},
		"/repos/octo/ref/issues/8/comments":          {"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "octo/ref", "GITHUB_REF": "refs/pull/8/merge", "GITHUB_TOKEN": "secret"},
		"/api/v4/projects/42/merge_requests/9/notes": {"GITLAB_CI": "true", "CI_PROJECT_ID": "42", "CI_MERGE_REQUEST_IID": "9", "GITLAB_TOKEN": "secret"},
	} {
		f := &forge{bodies: map[int]string{}}
		for i := range 150 {
			f.bodies[i+1] = "what a person says <!-- svcctl: svcctl -->"
		}
		server := httptest.NewServer(f)
		env["GITHUB_API_URL"], env["CI_API_V4_URL"] = server.URL, server.URL+"/api/v4"
		for _, body := range []string{"first", "second"} {
			if err := env.Comment(t.Context(), "svcctl", body); err != nil {
				t.Fatal(name, err)
			}
			if f.bodies[1000] != "<!-- svcctl: svcctl -->\n"+body || len(f.bodies) != 151 {
				t.Errorf("%s: %d comments, %q", name, len(f.bodies), f.bodies[1000])
			}
		}
		if f.calls[0] != "GET "+name {
			t.Errorf("%s: %s", name, f.calls[0])
		}
		f.status = http.StatusForbidden
		if err := env.Comment(t.Context(), "svcctl", "third"); err == nil || !strings.Contains(err.Error(), "403 Forbidden") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
		f.status = 0
		for range 2 { // the second has nothing to delete
			if err := env.Comment(t.Context(), "svcctl", ""); err != nil || len(f.bodies) != 150 {
				t.Errorf("%s: %d comments, %v", name, len(f.bodies), err)
			}
		}
		server.Close()
	}
}

func TestCommentWithoutRequest(t *testing.T) {
	t.Parallel()
	for name, env := range map[string]ci.Environ{
		"no job":         {},
		"a push":         {"GITHUB_ACTIONS": "true", "GITHUB_REF": "refs/heads/main"},
		"a GitLab push":  {"GITLAB_CI": "true"},
		"another system": {"JENKINS_URL": "http://j"},
	} {
		if err := env.Comment(t.Context(), "svcctl", "x"); !errors.Is(err, ci.ErrNoRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, env := range map[string]ci.Environ{
		"GITHUB_TOKEN":      {"GITHUB_ACTIONS": "true", "GITHUB_REF": "refs/pull/7/merge"},
		"GITLAB_TOKEN":      {"GITLAB_CI": "true", "CI_MERGE_REQUEST_IID": "7"},
		"GITHUB_EVENT_PATH": {"GITHUB_ACTIONS": "true", "GITHUB_EVENT_PATH": "/nowhere"},
	} {
		if err := env.Comment(t.Context(), "svcctl", "x"); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
