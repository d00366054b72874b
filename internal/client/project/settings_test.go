package project_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestSettings reads the section svcctl: its values, and its mistakes with line and column.
func TestSettings(t *testing.T) {
	t.Parallel()
	zero, none, twoHours := 0, int64(0), int64(7200)
	for name, tc := range map[string]struct {
		section string
		want    *bundle.Release
		wrong   string // part of the error; "" for none
	}{
		"all":            {`{ "promote": { "guard": "refuse" }, "release": { "check": "/up?x=1" }, "assets": { "keep": 0 } }`, &bundle.Release{Guard: "refuse", Check: "/up?x=1", AssetsKeep: &zero}, ""},
		"nothing":        {`{ "promote": {}, "allow_missing": [] }`, nil, ""},
		"another guard":  {`{ "promote": { "guard": "warn" } }`, nil, `wrangler.jsonc:2:35: svcctl.promote.guard is "warn"; it can be "refuse", or be left out`},
		"no text":        {`{ "promote": { "guard": true } }`, nil, "svcctl.promote.guard is true or false and must be a string"},
		"a path":         {`{ "release": { "check": "up" } }`, nil, `svcctl.release.check is "up": want a path that begins with /`},
		"too many":       {`{ "assets": { "keep": 21 } }`, nil, "wrangler.jsonc:2:33: svcctl.assets.keep is 21 and must be a whole number from 0 to 20"},
		"a fraction":     {`{ "assets": { "keep": 1.5 } }`, nil, "svcctl.assets.keep is 1.5 and must be"},
		"no object":      {`{ "assets": 2 }`, nil, "svcctl.assets is a number and must be an object"},
		"no history":     {`{ "history": "off" }`, &bundle.Release{History: bundle.NoHistory()}, ""},
		"some history":   {`{ "history": { "seconds": "off", "minutes": "2h", "max_size": "5MiB" } }`, &bundle.Release{History: &bundle.History{Seconds: &none, Minutes: &twoHours, MaxSize: 5 << 20}}, ""},
		"empty history":  {`{ "history": {} }`, nil, ""},
		"odd history":    {`{ "history": "1h" }`, nil, `wrangler.jsonc:2:24: svcctl.history is "1h"; it can be "off", or an object with`},
		"long history":   {`{ "history": { "hours": "401d" } }`, nil, `svcctl.history.hours is "401d"; want off, or a time such as 1h or 7d, at most 400d`},
		"no size":        {`{ "history": { "max_size": "big" } }`, nil, `svcctl.history.max_size is "big": want a size such as 64MiB`},
		"another tier":   {`{ "history": { "days": "1d" } }`, nil, "svcctl.history.days is not a key of svcctl.history"},
		"unknown":        {`{ "promotes": { "guard": "refuse" } }`, nil, `wrangler.jsonc:2:13: svcctl.promotes is not a key of svcctl; did you mean "promote"?`},
		"unknown in one": {`{ "assets": { "directory": "x" } }`, nil, "svcctl.assets.directory is not a key of svcctl.assets; the keys are keep"},
	} {
		dir := svctest.Files(t, map[string]string{"a.js": "", "wrangler.jsonc": `{ "name": "shop", "main": "a.js", "compatibility_date": "2026-01-01",
"svcctl": ` + tc.section + "}"})
		f, _, err := project.Load(dir, project.Options{})
		if tc.wrong != "" {
			if svc.CodeOf(err) != svc.CodeConfigInvalid || !strings.Contains(err.Error(), tc.wrong) {
				t.Errorf("%s: %v, want %q", name, err, tc.wrong)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if diff := cmp.Diff(tc.want, f.Release); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
