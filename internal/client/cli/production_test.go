package cli

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
)

// changes is a server with the production v1 and a version v2, that counts changes.
type changes struct{ n int }

func (c *changes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/versions/v1"):
		io.WriteString(w, `{"id":"v1","project_id":"shop","is_production":true}`)
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/env"):
		io.WriteString(w, `{"items":[{"key":"OLD","value":"x","source":"override"}]}`)
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/objects/FILES"):
		io.WriteString(w, `{"items":[{"key":"gone.png","size":1,"etag":"e"}],"prefixes":[]}`)
	case r.Method == http.MethodGet:
		io.WriteString(w, `{"id":"v2","project_id":"shop"}`)
	default:
		c.n++
		io.WriteString(w, `{"items":[],"results":[]}`)
	}
}

// TestAskProduction: a command that changes the data or the variables of production asks on a terminal,
// and continues without one.
func TestAskProduction(t *testing.T) {
	t.Parallel()
	keys := filepath.Join(t.TempDir(), "keys.json")
	if err := os.WriteFile(keys, []byte(`["greeting"]`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{
		"kv key delete VERSION greeting --binding KV", "kv bulk delete VERSION " + keys + " --binding KV", "r2 object delete VERSION a.png --binding FILES",
		"r2 sync VERSION " + t.TempDir() + " --delete --binding FILES",
		"d1 execute VERSION --write --command DELETE", "d1 import VERSION " + keys, "env set VERSION A=b", "env unset VERSION OLD", "env import VERSION " + keys,
	} {
		if strings.HasPrefix(command, "env import") {
			vars := filepath.Join(t.TempDir(), ".env")
			if err := os.WriteFile(vars, []byte("A=b\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			command = "env import VERSION " + vars
		}
		for name, tc := range map[string]struct {
			version, typed, flag string
			changes, code        int
			asks                 bool
		}{
			"refused":       {"v1", "no\n", "", 0, kit.ExitUsage, true},
			"confirmed":     {"v1", "shop\n", "", 1, kit.ExitOK, true},
			"--yes":         {"v1", "no\n", "--yes", 1, kit.ExitOK, false},
			"a script":      {"v1", "", "", 1, kit.ExitOK, false},
			"no production": {"v2", "no\n", "", 1, kit.ExitOK, false},
		} {
			server := &changes{}
			args := strings.Fields(strings.Replace(command, "VERSION", tc.version, 1) + " " + tc.flag)
			code, out, errs := runs{typed: tc.typed}.fake(t, server, args...)
			if code != tc.code || server.n != tc.changes || strings.Contains(errs, "shop/v1 is production: this ") != tc.asks {
				t.Errorf("%s, %s: exit %d, %d changes\n%s%s", command, name, code, server.n, out, errs)
			}
		}
	}
}

// queries counts the statements that may change data.
type queries struct{ changes }

func (q *queries) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if r.Method == http.MethodPost && !strings.Contains(string(body), `"read_only":false`) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"results":[]}`)
		return
	}
	q.changes.ServeHTTP(w, r)
}

// TestShellAsksProduction: the shell asks before it may change production, with --write and with .write on.
func TestShellAsksProduction(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args, typed   string
		changes, code int
		asks          bool
	}{
		"refused":           {"v1 --write", "no\nDELETE FROM t;\n", 0, kit.ExitUsage, true},
		"confirmed":         {"v1 --write", "shop\nDELETE FROM t;\n", 1, kit.ExitOK, true},
		"--yes":             {"v1 --write --yes", "DELETE FROM t;\n", 1, kit.ExitOK, false},
		"no production":     {"v2 --write", "DELETE FROM t;\n", 1, kit.ExitOK, false},
		".write on":         {"v1", ".write on\n", 0, kit.ExitOK, true},
		".write on, --yes":  {"v1 --yes", ".write on\nDELETE FROM t;\n", 1, kit.ExitOK, false},
		".write off, --yes": {"v1 --write --yes", ".write off\nDELETE FROM t;\n", 0, kit.ExitOK, false},
	} {
		server := &queries{}
		code, out, errs := runs{typed: tc.typed}.fake(t, server, append([]string{"d1", "shell"}, strings.Fields(tc.args)...)...)
		if code != tc.code || server.n != tc.changes || strings.Contains(errs, "shop/v1 is production: this ") != tc.asks {
			t.Errorf("%s: exit %d, %d changes\n%s%s", name, code, server.n, out, errs)
		}
	}
}
