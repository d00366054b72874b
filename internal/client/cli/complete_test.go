package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
)

// TestCompletions: versions with status and age, and projects, from the server.
func TestCompletions(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/v1/projects":
			io.WriteString(w, `{"items":[{"id":"shop","prod_version_id":"v1"},{"id":"other"}],"next_cursor":null}`)
		case "/v1/projects/shop/versions":
			io.WriteString(w, `{"items":[{"id":"v2","status":"failed","created_at":"2020-01-01T00:00:00Z"},{"id":"w1","status":"ready","created_at":"2020-01-01T00:00:00Z"}],"next_cursor":null}`)
		case "/v1/projects/shop/versions/w1/database":
			io.WriteString(w, `{"items":[{"binding":"DB","name":"main"}]}`)
		case "/v1/projects/shop/versions/w1/kv":
			io.WriteString(w, `{"items":[{"binding":"CACHE"}]}`)
		case "/v1/projects/shop/versions/w1/kv/CACHE/keys":
			io.WriteString(w, `{"items":[{"name":"`+r.URL.Query().Get("prefix")+`one"}],"next_cursor":null}`)
		case "/v1/projects/shop/versions/w1/objects":
			io.WriteString(w, `{"items":[{"binding":"FILES"}]}`)
		case "/v1/projects/shop/versions/w1/objects/FILES":
			io.WriteString(w, `{"items":[{"key":"`+r.URL.Query().Get("prefix")+`.txt"}],"prefixes":[],"next_cursor":null}`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	k := &kit.Kit{Dir: t.TempDir(), Environ: []string{"HOME=" + t.TempDir(), "SVCCTL_ADMIN_TOKEN=x", "SVCCTL_SERVER=" + server.URL}}
	for name, tc := range map[string]struct {
		got  []string
		want string // names and the beginning of descriptions
	}{
		"versions":         {versionsLike(t.Context(), k, "shop", ""), "v2\tfailed, w1\tready, "},
		"versions like v":  {versionsLike(t.Context(), k, "shop", "v"), "v2\tfailed, "},
		"with the project": {versionsLike(t.Context(), k, "", "shop/w"), "shop/w1\tready, "},
		"of no project":    {versionsLike(t.Context(), k, "", "v"), ""},
		"of an absent one": {versionsLike(t.Context(), k, "absent", ""), ""},
		"projects":         {projectsLike(t.Context(), k, ""), "shop\tproduction v1 other\tproduction none "},
		"projects like o":  {projectsLike(t.Context(), k, "o"), "other\tproduction none "},
		"bindings":         {bindingsLike(t.Context(), k, versionArgument{"shop/w1", ""}, "kv", "C"), "CACHE\t "},
		"databases":        {databasesLike(t.Context(), k, versionArgument{"shop/w1", ""}, "m"), "main\t "},
		"of another kind":  {bindingsLike(t.Context(), k, versionArgument{"w1", "shop"}, "email", ""), ""},
		"keys":             {keysLike(t.Context(), k, kvFlags{}, "shop/w1", "a"), "aone\t "},
		"objects":          {objectsLike(t.Context(), k, r2Flags{}, "shop/w1", "a"), "a.txt\t "},
		"without a server": {projectsLike(t.Context(), &kit.Kit{Environ: []string{"HOME=" + t.TempDir()}}, ""), ""},
	} {
		var b strings.Builder
		for _, word := range tc.got {
			name, description, _ := strings.Cut(word, "\t")
			before, _, _ := strings.Cut(description, ", ") // the age changes
			b.WriteString(name + "\t" + before)
			if strings.Contains(description, ", ") {
				b.WriteString(",")
			}
			b.WriteString(" ")
		}
		if b.String() != tc.want {
			t.Errorf("%s: %q, want %q", name, b.String(), tc.want)
		}
	}
}
