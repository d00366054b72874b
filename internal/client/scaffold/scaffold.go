package scaffold

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

//go:embed templates
var templates embed.FS

// ignoreFile is the template of .gitignore, which all workers have.
const ignoreFile = "templates/gitignore"

// Template is one kind of worker.
type Template struct {
	Name, Help string
	Install    bool // it has npm packages to install
	Build      bool // npm run build writes what is deployed
}

// Templates lists the templates.
func Templates() []Template {
	return []Template{
		{Name: "hello", Help: "one handler and a variable"},
		{Name: "hono", Help: "routes with Hono and a KV namespace", Install: true},
		{Name: "d1", Help: "a D1 database with a migration"},
		{Name: "websocket", Help: "a websocket that echoes, and its page"},
		{Name: "react-router", Help: "pages with React Router, built by Vite", Install: true, Build: true},
		{Name: "durable-object", Help: "counters that are Durable Objects with a database each"},
		{Name: "queue", Help: "a queue, its producer and its consumer"},
		{Name: "workflow", Help: "a workflow of steps that survives crashes"},
	}
}

// Names are the names of the templates.
func Names() (names []string) {
	for _, t := range Templates() {
		names = append(names, t.Name)
	}
	return names
}

// Find returns a template.
func Find(name string) (Template, bool) {
	all := Templates()
	i := slices.IndexFunc(all, func(t Template) bool { return t.Name == name })
	if i < 0 {
		return Template{}, false
	}
	return all[i], true
}

var notID = regexp.MustCompile(`[^a-z0-9]+`)

// ProjectName turns the name of a directory into a project id.
func ProjectName(dir string) string {
	name := strings.Trim(notID.ReplaceAllString(strings.ToLower(filepath.Base(dir)), "-"), "-")
	if name == "" {
		return "worker"
	}
	return strings.Trim(name[:min(len(name), 40)], "-")
}

// Write writes the files of a template into dir, which is created if necessary, and
// returns their names. It replaces no file.
//
// Errors: Conflict, file_exists.
func Write(t Template, dir string) (names []string, err error) {
	files, err := read(t, ProjectName(dir))
	if err != nil {
		return nil, err
	}
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name))); !errors.Is(err, fs.ErrNotExist) {
			return nil, svc.Errorf(svc.Conflict, svc.CodeFileExists, "%s exists already; no file was written", filepath.Join(dir, name)).
				WithHint("name another directory")
		}
	}
	for _, name := range names {
		if err := write(filepath.Join(dir, filepath.FromSlash(name)), files[name]); err != nil {
			return nil, fmt.Errorf("writing the worker: %w", err)
		}
	}
	return names, nil
}

// read returns the files of a template, by name.
func read(t Template, project string) (map[string]string, error) {
	files := map[string]string{}
	root := path.Join("templates", t.Name)
	err := fs.WalkDir(templates, root, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := templates.ReadFile(p)
		files[strings.TrimPrefix(p, root+"/")] = strings.ReplaceAll(string(data), "{{name}}", project)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the template %s: %w", t.Name, err)
	}
	ignore, err := templates.ReadFile(ignoreFile)
	files[".gitignore"] = string(ignore)
	if t.Build {
		files[".gitignore"] += "build/\n.react-router/\n"
	}
	return files, err
}

func write(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // sources, which others may read
		return err
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644) //nolint:gosec // as above
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
