package project_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestCrons: an environment inherits the expressions of the top level unless it has its own.
func TestCrons(t *testing.T) {
	t.Parallel()
	const text = `{
		"name": "shop", "main": "index.js", "compatibility_date": "2026-11-01",
		"triggers": { "crons": ["*/5 * * * *", " 0  9 * * mon-fri ", "*/5 * * * *"] },
		"env": { "staging": {}, "own": { "triggers": { "crons": ["0 0 L * *"] } }, "off": { "triggers": { "crons": [] } }, "empty": { "triggers": {} } }
	}`
	for env, want := range map[string][]string{
		"": {"*/5 * * * *", "0  9 * * mon-fri"}, "staging": {"*/5 * * * *", "0  9 * * mon-fri"},
		"own": {"0 0 L * *"}, "off": nil, "empty": nil,
	} {
		dir := svctest.Files(t, map[string]string{"wrangler.jsonc": text, "index.js": ""})
		f, notices, err := project.Load(dir, project.Options{Env: env})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(f.Crons, want) {
			t.Errorf("%q has %q, want %q", env, f.Crons, want)
		}
		twice := slices.ContainsFunc(notices, func(n project.Notice) bool { return strings.Contains(n.Text, "triggers.crons[2] is listed twice") })
		if twice != (len(want) == 2) {
			t.Errorf("%q: %v", env, notices)
		}
	}
}
