package project

import (
	"path/filepath"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// ProjectID returns the id of the project to deploy to: named, else the name in the project
// file. Errors are Unprocessable: project_unnamed; invalid_id or id_reserved for a name that
// Cloudflare accepts and a host name of ours cannot hold.
func (f *File) ProjectID(named string) (string, error) {
	switch {
	case named != "":
		return named, svc.CheckProjectID(named)
	case f.Name != "":
		return f.Name, f.checkName()
	case f.Path == "":
		return "", svc.Errorf(svc.Unprocessable, svc.CodeProjectUnnamed, "there is no project file, so the project has no name").
			WithHint("name the project with --project")
	}
	return "", svc.Errorf(svc.Unprocessable, svc.CodeProjectUnnamed, "the project file has no name").
		WithHint("add one, or name the project with --project")
}

func (f *File) checkName() error {
	err := svc.CheckProjectID(f.Name)
	if err == nil {
		return nil
	}
	e := svc.AsError(err)
	id := proposed(f.Name)
	if svc.CheckProjectID(id) != nil {
		id = "ID"
	}
	return svc.Errorf(svc.Unprocessable, e.Code, "the name %q in %s cannot be a project id: %s", f.Name, filepath.Base(f.Path), e.Detail).
		WithHint("use --project %s", id)
}

// templates are the words in the names of project files that are to be copied.
//
//nolint:gochecknoglobals // a constant list
var templates = []string{"template", "example", "sample"}

// missing is the error of a directory without a project file. It names a template of one.
func missing(dir string) error {
	text := "no wrangler.jsonc, wrangler.json or wrangler.toml in " + dir + " or above it"
	files, _ := filepath.Glob(filepath.Join(dir, "wrangler*")) // the pattern is valid
	for _, file := range files {
		for _, word := range templates {
			if name := filepath.Base(file); strings.Contains(name, word) {
				return svc.Errorf(svc.Unprocessable, svc.CodeConfigNotFound, "%s; %s is a template of one", text, name).
					WithHint("copy %s to %s, and fill it in", name, strings.NewReplacer("."+word, "", "-"+word, "", "_"+word, "").Replace(name))
			}
		}
	}
	return svc.Errorf(svc.Unprocessable, svc.CodeConfigNotFound, "%s", text).WithHint("run the command in a worker's directory, or name one")
}
