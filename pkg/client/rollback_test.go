package client_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// history makes promotions of words: "v2" is a promote, "v3<c3" a release of c3 as v3, "back:v1" a
// rollback that restores v1, "!v4" a promote that failed. The first word is the first production,
// which has no promotion. The result is the newest first, as the service lists them.
func history(words ...string) (list []api.Promotion, production string) {
	production = words[0]
	for _, word := range words[1:] {
		op := api.Promotion{Kind: api.PromotionKindPromote, Status: api.PromotionStatusDone, PreviousVersionID: production, VersionID: word}
		var failed, back, released bool
		if op.VersionID, failed = strings.CutPrefix(op.VersionID, "!"); failed {
			op.Status = api.PromotionStatusFailed
		}
		if op.VersionID, back = strings.CutPrefix(op.VersionID, "back:"); back {
			op.Reason = "rollback: too slow"
		}
		if op.VersionID, op.CandidateVersionID, released = strings.Cut(op.VersionID, "<"); released {
			op.Kind = api.PromotionKindRelease
		}
		list = append(list, op)
		if !failed {
			production = op.VersionID
		}
	}
	slices.Reverse(list)
	return list, production
}

// TestRollbackTarget: a rollback goes further back each time, never to what a rollback left.
func TestRollbackTarget(t *testing.T) {
	t.Parallel()
	for did, want := range map[string]string{
		"v1":                    "none",
		"v1 v2":                 "v1; v1",
		"v1 v2 !v3":             "v1; v1",
		"v1 v2 v3":              "v2; v2 v1",
		"v1 v2 v3 back:v2":      "v1; v1",
		"v1 v2 back:v1":         "none",
		"v1 v2 back:v1 v3":      "v1; v1",
		"v1 v2 v3 back:v2 v4":   "v2; v2 v1",
		"v1 v2 v3 back:v1":      "none",
		"v1 v2 v1":              "v2; v2 v1", // promoted by name: forward
		"v1 v2 back:v1 back:v2": "v1; v1",    // as an earlier client did: forward
		"v1 back:v2":            "v1; v1",
		// Releases.
		"v1 v2<v2-check":                                   "v1 released; v1",
		"v1 v2<c2 v3<c3":                                   "v2 released; v2 v1",
		"v1 v2<c2 v3<c3 back:v2":                           "v1 released; v1",
		"v1 v2 v3<c3 back:v2":                              "v1; v1",
		"v1 v2<c2 v3<c3 r2<v2":                             "v1 released; v2 v1", // the code of v2 on today's data
		"v1 v2<c2 v3<c3 r2<v2 r1<v1":                       "none",
		"v1 v2<c2 v3<c3 v4<c4 r3<v3 r2<v2":                 "v1 released; v2 v1",
		"v1 v2<c2 v3<c3 r2<v2 back:v2":                     "v1 released; v1",
		"v1 v2<c2 r1<v1 v3<c3":                             "r1 released; r1 v1",
		"v1 v2<c2 r1<v1 v3<c3 q1<r1":                       "none",
		"v1 v2<c2 r1<v1 v3<c3 q1<v1":                       "none",
		"v0 v1 v2<c2 r1<v1 v3<c3 q1<r1":                    "v0; r1 v1 v0",
		"v1 v2<c2 r1<v1 v4<v2":                             "r1 released; r1 v1", // of what a rollback left: forward
		"v1 v2<c2 v3<c3 back:v2 back:v1 v4<c4 v5<c5 r4<v4": "v1 released; v4 v1",
	} {
		list, production := history(strings.Fields(did)...)
		c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/promotions") {
				reply(w, 200, "application/json", fmt.Sprintf(`{"id":"shop","prod_version_id":%q}`, production))
				return
			}
			page, err := json.Marshal(api.PromotionPage{Items: list})
			if err != nil {
				t.Error(err)
			}
			reply(w, 200, "application/json", string(page))
		})
		got, err := c.RollbackTarget(t.Context(), "shop")
		text := got.Version
		if got.Released {
			text += " released"
		}
		text += "; " + strings.Join(got.Earlier, " ")
		if errors.Is(err, client.ErrNoPrevious) {
			text = "none"
		} else if err != nil || got.Production != production {
			t.Errorf("%s: production %s, %v", did, got.Production, err)
		}
		if text != want {
			t.Errorf("%s: %s, want %s", did, text, want)
		}
		if from, err := client.RollbackFrom(production, list); (err != nil) != (want == "none") || from.Version != got.Version || from.Before() != got.Before() {
			t.Errorf("%s: by the list %+v, %v", did, from, err)
		}
		if id, err := c.PreviousProduction(t.Context(), "shop"); id != got.Version || errors.Is(err, client.ErrNoPrevious) != (want == "none") {
			t.Errorf("%s: PreviousProduction is %q, %v", did, id, err)
		}
	}
}

// TestRollbackTargetOfToday: a promote that began after the project was read counts for nothing.
func TestRollbackTargetOfToday(t *testing.T) {
	t.Parallel()
	list, _ := history("v1", "v2", "v3")
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/promotions") {
			reply(w, 200, "application/json", `{"id":"shop","prod_version_id":"v2"}`)
			return
		}
		page, _ := json.Marshal(api.PromotionPage{Items: list}) // it has plain fields
		reply(w, 200, "application/json", string(page))
	})
	if r, err := c.RollbackTarget(t.Context(), "shop"); err != nil || r.Version != "v1" || r.Production != "v2" {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestRollbackBefore: the version that replaced the target, also behind a rollback that kept the data.
func TestRollbackBefore(t *testing.T) {
	t.Parallel()
	for did, want := range map[string]string{"v1 v2<c2": "v2", "v1 v2<c2 v3<c3": "v3", "v1 v2<c2 v3<c3 r2<v2": "v2", "v1 v2<c2 r1<v1 v3<c3": "v3"} {
		list, production := history(strings.Fields(did)...)
		if r, err := client.RollbackFrom(production, list); err != nil || r.Before() != want {
			t.Errorf("%s: %q of %+v, %v", did, r.Before(), r, err)
		}
	}
}

// TestPromotionErrorCode: the code stands between the step and the text.
func TestPromotionErrorCode(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"drain: release_busy: 2 requests still run: GET /slow": "release_busy",
		"internal: the journal could not be read":              "",
		"switch: a file is missing: x":                         "",
	} {
		if got := (&client.PromotionError{Promotion: api.Promotion{Error: text}}).Code(); got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
	e := &client.PromotionError{Promotion: api.Promotion{Kind: api.PromotionKindRelease, ProjectID: "shop", CandidateVersionID: "v8-check", PreviousVersionID: "v7", Error: "drain: release_busy: x"}}
	if want := "the release of v8-check of shop failed and production is still v7: drain: release_busy: x"; e.Error() != want {
		t.Error(e)
	}
}
