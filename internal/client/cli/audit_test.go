package cli

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/pkg/api"
)

// TestAuditInSentences: a line says when, who and what; -o wide has all that is recorded. A deploy that
// had to create its project is not said as a failure.
func TestAuditInSentences(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 28, 5, 12, 7, 0, time.UTC)
	record := func(action, version string, status int) api.AuditRecord {
		at = at.Add(-time.Minute)
		return api.AuditRecord{
			Time: api.At(at), Actor: api.AuditActor{Name: "ana", Token: "admin", Role: "admin", Client: "127.0.0.1"}, Action: action,
			ProjectID: "shop", VersionID: version, Status: status, Before: map[string]any{}, After: map[string]any{}, RequestID: "r",
		}
	}
	promote := record("promoteVersion", "v2", 202)
	promote.Before, promote.After, promote.Reason = map[string]any{"production": "v1"}, map[string]any{"production": "v2", "operation_id": "op-1"}, "a release\x1b[31m"
	refused := record("destroyVersion", "v2", 409)
	refused.Actor.Name = ""
	page := api.AuditPage{Items: []api.AuditRecord{
		promote, refused, record("createVersion", "v1", 202), record("createProject", "", 201), record("createVersion", "", 404),
	}}
	answer := func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(page) }
	code, out, errOut := against(t, answer, "audit")
	want := `TIME (UTC)           WHO          WHAT
2026-11-28 05:11:07  ana (admin)  promoted shop/v2 (production was v1): a release[31m
2026-11-28 05:10:07  admin        tried to destroy shop/v2: 409 Conflict
2026-11-28 05:09:07  ana (admin)  deployed shop/v1
2026-11-28 05:08:07  ana (admin)  created the project shop
`
	if d := cmp.Diff(want, out); d != "" || code != 0 {
		t.Errorf("exit %d: %s%s", code, d, errOut)
	}
	code, out, _ = against(t, answer, "audit", "-o", "wide")
	for _, text := range []string{"TIME ", "ACTOR", "CHANGE", "promoteVersion", `{"production":"v1"} -> {"operation_id":"op-1","production":"v2"}`, " 404 "} {
		if !strings.Contains(out, text) {
			t.Errorf("exit %d: -o wide lacks %q:\n%s", code, text, out)
		}
	}
}
