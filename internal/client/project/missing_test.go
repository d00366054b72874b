package project_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

const lacking = `{
	"name": "shop", "main": "index.js", "compatibility_date": "2026-11-01",
	"images": { "binding": "IMG" },
	"vectorize": [{ "binding": "V1", "index_name": "a" }, { "binding": "V2", "index_name": "b" }],
	"logfwdr": { "bindings": [{ "name": "LOG", "destination": "x" }] },
	"containers": [{ "class_name": "C" }]
}`

// TestAllowMissing: keys that are not supported are problems, unless they may be missing.
func TestAllowMissing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text    string
		allow   []string
		want    string // the missing bindings
		problem string
	}{
		"none":         {lacking, nil, "", "images is not supported: it is a service of Cloudflare's platform (--allow-missing images deploys without it)"},
		"some":         {lacking, []string{"images", "vectorize"}, "images IMG, vectorize V1, vectorize V2", "logfwdr is not supported"},
		"all":          {lacking, []string{"images", "vectorize", "logfwdr", "containers"}, "images IMG, vectorize V1, vectorize V2, logfwdr LOG", ""},
		"section":      {strings.Replace(lacking, `"name": "shop"`, `"svcctl": { "allow_missing": ["images", "vectorize", "logfwdr", "containers"] }, "name": "shop"`, 1), nil, "images IMG, vectorize V1, vectorize V2, logfwdr LOG", ""},
		"unknown":      {lacking, []string{"a1"}, "", `--allow-missing names "a1", which is no key of a project file; it can name agent_memory, ai_search, `},
		"cannot":       {lacking, []string{"site"}, "", "--allow-missing names site, without which a worker cannot be deployed"},
		"not a list":   {strings.Replace(lacking, `"name": "shop"`, `"svcctl": { "allow_missing": "images" }, "name": "shop"`, 1), nil, "", "svcctl.allow_missing is a string and must be"},
		"a name twice": {strings.Replace(lacking, `"images": {`, `"vars": { "IMG": "" }, "images": {`, 1), []string{"images"}, "", `"IMG"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := svctest.Files(t, map[string]string{"wrangler.jsonc": c.text, "index.js": ""})
			f, _, err := project.Load(dir, project.Options{AllowMissing: c.allow})
			if c.problem != "" {
				if !slices.ContainsFunc(details(err), func(text string) bool { return strings.Contains(text, c.problem) }) {
					t.Fatalf("%q, want %s", details(err), c.problem)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range f.Missing {
				got = append(got, m.Key+" "+m.Binding)
			}
			if strings.Join(got, ", ") != c.want || len(f.Unsupported) != 4 {
				t.Errorf("missing %q, unsupported %+v", got, f.Unsupported)
			}
		})
	}
}

// details are the texts of all problems.
func details(err error) []string {
	e := svc.AsError(err)
	list := []string{e.Detail}
	for _, f := range e.Fields {
		list = append(list, f.Detail)
	}
	return list
}
