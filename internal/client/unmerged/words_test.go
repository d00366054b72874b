package unmerged_test

import (
	"testing"

	"github.com/svcctl/svcctl/internal/client/unmerged"
	"github.com/svcctl/svcctl/pkg/api"
)

// TestLeft: a promote leaves nothing behind only if that is known.
func TestLeft(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		u     *api.Unmerged
		left  bool
		short string
	}{
		"no production": {nil, false, ""},
		"nothing":       {&api.Unmerged{}, false, ""},
		"keys":          {&api.Unmerged{Keys: api.WrittenRecords{Inserted: 2, Deleted: 1}}, true, "v1 has what v2 lacks: KV keys: 2 new, 1 deleted"},
		"at least": {
			&api.Unmerged{Tables: []api.UnmergedTable{{Database: "shop", Table: "orders", Updated: 9, AtLeast: true}, {Database: "big", AtLeast: true}}}, true,
			"v1 has what v2 lacks: D1 shop: rows of orders: at least 9 changed; D1 big: not compared in time",
		},
		"unrelated":   {&api.Unmerged{Reason: api.UnmergedReasonUnrelated}, true, "no common cut: v1 and v2 inherited nothing from each other; nothing of the data of v1 is in v2"},
		"unavailable": {&api.Unmerged{Reason: api.UnmergedReasonUnavailable}, true, "the data could not be read in time; what is not merged was not counted"},
	} {
		if unmerged.Left(tc.u) != tc.left {
			t.Errorf("%s: left is %v", name, !tc.left)
		}
		if tc.left && unmerged.Short(*tc.u, "v1", "v2") != tc.short {
			t.Errorf("%s: %s", name, unmerged.Short(*tc.u, "v1", "v2"))
		}
	}
	if got := unmerged.Rescue("shop", "v1"); got != "svcctl data export shop/v1 --since-cut" {
		t.Error(got)
	}
}
