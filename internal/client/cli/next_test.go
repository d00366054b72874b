package cli

import (
	"strings"
	"testing"

	"github.com/svcctl/svcctl/pkg/api"
)

// TestNext: the next step that the CLI names never loses data.
func TestNext(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		production string
		v          api.Version
		want       string
	}{
		"production exists":  {"v1", api.Version{}, "next: svcctl release shop/v2\n"},
		"none exists":        {"", api.Version{}, "next: svcctl promote shop/v2\n"},
		"a pull request":     {"v1", api.Version{GitRef: "refs/pull/7/merge"}, "next: svcctl open shop/v2\n"},
		"a merge request":    {"v1", api.Version{GitRef: "refs/merge-requests/7/head"}, "next: svcctl open shop/v2\n"},
		"a preview":          {"v1", api.Version{PreviewName: "pr-7"}, "next: svcctl open shop/v2\n"},
		"failed":             {"v1", api.Version{Status: api.VersionStatusFailed}, "next: svcctl logs shop/v2\n"},
		"archived":           {"v1", api.Version{Status: api.VersionStatusArchived}, "next: svcctl versions wake shop/v2\n"},
		"an old production":  {"v1", api.Version{HandedOverTo: "v1", Events: api.VersionEventsHandedOver}, ""},
		"the production now": {"v2", api.Version{}, ""},
	} {
		f := newFake(t, tc.production)
		tc.v.ID, tc.v.ProjectID = "v2", "shop"
		if tc.v.Status == "" {
			tc.v.Status = api.VersionStatusReady
		}
		f.versions["v2"] = tc.v
		_, out, errs := runs{}.fake(t, f, "versions", "get", "v2")
		if !strings.Contains(errs, tc.want) || tc.want == "" && strings.Contains(errs, "next") {
			t.Errorf("%s: %s", name, errs)
		}
		if tc.v.HandedOverTo != "" {
			holds(t, "stdout", out, "  events   handed over to v1\n")
		}
	}
}
