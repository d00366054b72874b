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
		"unknown":      {lacking, []string{"a1"}, "", `--allow-missing names "a1", which is no key of a project file; it can name addresses, agent_memory, ai_search, `},
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

// TestAddedByTheBuild: what a build tool added may be missing, what the project asks for may not.
func TestAddedByTheBuild(t *testing.T) {
	t.Parallel()
	const built = `{ "name": "shop", "main": "index.js", "compatibility_date": "2026-11-01", "images": { "binding": "IMAGES" } }`
	for name, c := range map[string]struct {
		own  string // the project's own file; "" for none
		want string // the notice or the problem
		ok   bool
	}{
		"added":              {`{ "name": "shop" }`, "images is not supported: every use of IMAGES throws (the build of the project added it)", true},
		"without own file":   {"", "(the build of the project added it)", true},
		"asked for":          {`{ "images": { "binding": "IMAGES" } }`, "--allow-missing images deploys without it", false},
		"asked for by env":   {`{ "env": { "a": { "images": { "binding": "IMAGES" } } } }`, "--allow-missing images deploys without it", false},
		"asked for, allowed": {`{ "images": { "binding": "IMAGES" }, "svcctl": { "allow_missing": ["images"] } }`, "every use of IMAGES throws (--allow-missing)", true},
		"wrong section":      {`{ "svcctl": { "allow_missing": "images" } }`, "wrangler.jsonc:1:32: svcctl.allow_missing is a string", false},
		"broken":             {`{ "name": `, "wrangler.jsonc:1:", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"dist/wrangler.json": built, "dist/index.js": "", ".wrangler/deploy/config.json": `{ "configPath": "../../dist/wrangler.json" }`}
			if c.own != "" {
				files["wrangler.jsonc"] = c.own
			}
			f, notices, err := project.Load(svctest.Files(t, files), project.Options{})
			texts := details(err)
			for _, n := range notices {
				texts = append(texts, n.String())
			}
			if (err == nil) != c.ok || !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, c.want) }) {
				t.Errorf("%q, want %s", texts, c.want)
			}
			if c.ok && (len(f.Missing) != 1 || f.Missing[0].Binding != "IMAGES") {
				t.Errorf("missing: %+v", f.Missing)
			}
		})
	}
}

// details are the texts of all problems.
func details(err error) []string {
	if err == nil {
		return nil
	}
	e := svc.AsError(err)
	list := []string{e.Detail}
	for _, f := range e.Fields {
		list = append(list, f.Detail)
	}
	return list
}
