package project

import (
	"io/fs"
	"path/filepath"
	"slices"
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
	text := "no wrangler.jsonc, wrangler.json, wrangler.toml or cloudflare.config.ts in " + dir + " or above it"
	files, _ := filepath.Glob(filepath.Join(dir, "wrangler*")) // the pattern is valid
	for _, file := range files {
		for _, word := range templates {
			if name := filepath.Base(file); strings.Contains(name, word) {
				return svc.Errorf(svc.Unprocessable, svc.CodeConfigNotFound, "%s; %s is a template of one", text, name).
					WithHint("copy %s to %s, and fill it in", name, strings.NewReplacer("."+word, "", "-"+word, "", "_"+word, "").Replace(name))
			}
		}
	}
	e := svc.Errorf(svc.Unprocessable, svc.CodeConfigNotFound, "%s", text)
	switch below := Files(dir, mostBelow, mostShown+1); {
	case len(below) == 0:
		return e.WithHint("run the command in a worker's directory, or name one")
	case len(below) > mostShown:
		below = append(below[:mostShown], "...")
		fallthrough
	default:
		return e.WithHint("found %s: use -c %s; svcctl check --all . checks all of them", strings.Join(below, ", "), below[0])
	}
}

// How far below a directory project files are looked for, and how many are shown.
const (
	mostBelow  = 4 // directories
	mostShown  = 3
	mostLooked = 20_000 // files and directories: the directory may be a home with anything in it
)

// Files finds the project files below a directory, one for each directory, with paths relative to it.
// depth and limit are how deep it looks and how many it finds; 0 is no limit. With a limit it stops in
// a large directory, too. What cannot be read is left out.
func Files(dir string, depth, limit int) (files []string) {
	seen, looked := map[string]bool{}, 0
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error { // no function returns another error
		looked++
		switch {
		case err != nil:
			return nil //nolint:nilerr // left out
		case limit > 0 && (len(files) == limit || looked > mostLooked):
			return fs.SkipAll
		case d.IsDir():
			rel, _ := filepath.Rel(dir, path) // both begin with dir
			return enter(path != dir, d.Name(), depth > 0 && strings.Count(filepath.ToSlash(rel), "/")+1 > depth)
		}
		if name := d.Name(); (name == typedFile || slices.Contains(fileNames, name)) && !seen[filepath.Dir(path)] {
			seen[filepath.Dir(path)] = true
			rel, _ := filepath.Rel(dir, path) // as above
			files = append(files, rel)
		}
		return nil
	})
	return files
}

// enter skips directories of packages and tools, and those that are too deep.
func enter(below bool, name string, tooDeep bool) error {
	if below && (name == "node_modules" || strings.HasPrefix(name, ".") || tooDeep) {
		return fs.SkipDir
	}
	return nil
}
