package project_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestProjectID: names that Cloudflare accepts, and those of the command line.
func TestProjectID(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file        project.File
		named       string
		want, error string // of the error, its text with the hint
	}{
		"a name":         {file: project.File{Path: "/w/wrangler.toml", Name: "shop"}, want: "shop"},
		"the flag wins":  {file: project.File{Path: "/w/wrangler.toml", Name: "my_shop"}, named: "shop", want: "shop"},
		"an underscore":  {file: project.File{Path: "/w/wrangler.toml", Name: "My_shop"}, error: `the name "My_shop" in wrangler.toml cannot be a project id: an id has 1 to 63 of a-z, 0-9 and '-', and starts and ends with a letter or digit: use --project my-shop`},
		"reserved":       {file: project.File{Path: "/w/wrangler.toml", Name: "localhost"}, error: `the name "localhost" in wrangler.toml cannot be a project id: "localhost" is reserved: choose another project id: use --project ID`},
		"a common name":  {file: project.File{Path: "/w/wrangler.toml", Name: "api"}, want: "api"},
		"a wrong flag":   {file: project.File{}, named: "a_b", error: "an id has 1 to 63"},
		"no name":        {file: project.File{Path: "/w/wrangler.toml"}, error: "the project file has no name: add one"},
		"no file at all": {error: "there is no project file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id, err := c.file.ProjectID(c.named)
			if c.error == "" && (id != c.want || err != nil) || c.error != "" && (err == nil || !strings.HasPrefix(err.Error(), c.error)) {
				t.Errorf("%q %v, want %q %s", id, err, c.want, c.error)
			}
		})
	}
}

// TestTemplate: a directory without a project file names the template that it has.
func TestTemplate(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"wrangler.toml.template": "copy wrangler.toml.template to wrangler.toml, and fill it in", "wrangler.example.jsonc": "copy wrangler.example.jsonc to wrangler.jsonc, and fill it in",
		"wrangler-sample.toml": "copy wrangler-sample.toml to wrangler.toml, and fill it in", "wrangler.md": "run the command in a worker's directory, or name one",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := project.Load(dir, project.Options{})
		if e := svc.AsError(err); e.Code != svc.CodeConfigNotFound || e.Hint != want {
			t.Errorf("%s: %v", file, err)
		}
	}
}
