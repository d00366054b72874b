package remote_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/client/tui/remote"
	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/pkg/client"
)

// TestProduction: what the verbs that change production send, and say afterwards.
func TestProduction(t *testing.T) {
	t.Parallel()
	const done = `{"operation_id":"op","project_id":"shop","version_id":"v8","status":"done","finished_at":"2026-11-22T07:16:30.000Z"`
	release := done + `,"kind":"release","candidate_version_id":"v7-check","previous_version_id":"v7","held_ms":84.2}`
	promote := done + `,"kind":"promote","previous_version_id":"v7","unmerged":{"common_version_id":"v7","keys":{"inserted":2}}}`
	for name, tc := range map[string]struct {
		action           state.Action
		record           string
		path, sent, note string
	}{
		"release": {
			action: state.Action{Verb: state.Release, Version: "v7-check", Arg: state.JoinArg("v7", "")}, record: release, path: "v7-check/release",
			sent: `{"expected_prod_version_id":"v7","reason":"svcctl ui"}`, note: "shop/v8 is production: released v7-check as v8 · held 84ms",
		},
		"back with the data kept": {
			action: state.Action{Verb: state.Release, Version: "v7", Arg: state.JoinArg("v8", "rollback")}, record: release, path: "v7/release",
			sent: `{"expected_prod_version_id":"v8","reason":"rollback","rollback":true}`, note: "shop/v8 is production: released v7-check as v8 · held 84ms",
		},
		"promote": {
			action: state.Action{Verb: state.Promote, Version: "v8", Arg: state.JoinArg("v7", "leave writes")}, record: promote, path: "v8/promote",
			sent: `{"expected_prod_version_id":"v7","leave_writes":true,"reason":"svcctl ui"}`, note: "shop/v8 is production; it was v7; for what stays there: svcctl data export shop/v7 --since-cut",
		},
		"rollback": {
			action: state.Action{Verb: state.Rollback, Version: "v8", Arg: state.JoinArg("v7", "")}, record: promote, path: "v8/promote",
			sent: `{"expected_prod_version_id":"v7","reason":"rollback"}`, note: "shop/v8 is production; it was v7; for what stays there: svcctl data export shop/v7 --since-cut",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if r.Method == http.MethodGet {
					_, _ = fmt.Fprint(w, tc.record)
					return
				}
				var sent map[string]any
				_ = json.NewDecoder(r.Body).Decode(&sent)
				if text, _ := json.Marshal(sent); string(text) != tc.sent || !strings.HasSuffix(r.URL.Path, "/shop/versions/"+tc.path) {
					t.Errorf("%s %s", r.URL.Path, text)
				}
				w.WriteHeader(http.StatusAccepted)
				_, _ = fmt.Fprint(w, `{"operation_id":"op","status":"running"}`)
			}))
			t.Cleanup(server.Close)
			c, err := client.New(server.URL, client.Tokens{Admin: "token"}, client.Options{})
			if err != nil {
				t.Fatal(err)
			}
			r := remote.Open(t.Context(), c)
			t.Cleanup(r.Close)
			tc.action.Project = "shop"
			end, ok := r.Do(tc.action)().(state.Done)
			if !ok || end.Err != nil || end.Note != tc.note {
				t.Errorf("%q, %v; want %q", end.Note, end.Err, tc.note)
			}
		})
	}
}
