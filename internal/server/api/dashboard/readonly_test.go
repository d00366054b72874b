package dashboard_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/pkg/api"
)

// A rollback in a session that may only read is refused for that reason.
func TestReadOnlyRollback(t *testing.T) {
	t.Parallel()
	all := hostileAPI(t, "a", "ready")
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/whoami" {
			all.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(api.Whoami{Roles: []api.WhoamiRoles{api.WhoamiRolesRead}})
	})
	w, text := signedIn(t, handler)("/p/a/rollback")
	if w.Code != http.StatusForbidden || !strings.Contains(text, "The token of this session may only read.") {
		t.Errorf("%d %s", w.Code, text)
	}
}
