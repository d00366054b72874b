package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// sitePrefix begins the names of the fixtures that have static assets.
const sitePrefix = "sites/"

// project is a copy of a fixture.
type project struct {
	root, scratch string
	name          string // of the fixture
	id            string // of the project
	dir           string
}

// prepare copies a fixture, since wrangler dev writes beside its files. A site gets the files
// of its list.
func prepare(root, scratch, name string) (project, error) {
	p := project{root: root, scratch: scratch, name: name, id: "bench-" + filepath.Base(name), dir: filepath.Join(scratch, name)}
	from := filepath.Join(root, "fixtures", name)
	if err := os.CopyFS(p.dir, os.DirFS(from)); err != nil || !p.isSite() {
		return p, err
	}
	worker, err := os.ReadFile(filepath.Join(from, "../worker.js"))
	if err != nil {
		return p, err
	}
	if err := os.WriteFile(filepath.Join(p.dir, "worker.js"), worker, 0o600); err != nil { //nolint:gosec // a directory of our own
		return p, err
	}
	list := filepath.Join(from, "files.txt")
	if _, err := os.Stat(list); err != nil {
		list = filepath.Join(from, "../files.txt")
	}
	return p, p.fill(list)
}

func (p project) isSite() bool { return strings.HasPrefix(p.name, sitePrefix) }

// alive is a path that answers 200.
func (p project) alive() string {
	if p.isSite() {
		return "/awesome/data.json"
	}
	return "/"
}

// fill writes the files of a list: lines of a name and, behind a tab, a number of bytes. A
// file consists of its name.
func (p project) fill(list string) error {
	text, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		name, size, sized := strings.Cut(strings.TrimSpace(line), "\t")
		if name == "" || name[0] == '#' {
			continue
		}
		content := []byte(name)
		if sized {
			n, err := strconv.Atoi(size)
			if err != nil {
				return err
			}
			content = bytes.Repeat([]byte("0123456789"), n/10+1)[:n]
		}
		file := filepath.Join(p.dir, "files", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(file, content, 0o600); err != nil {
			return err
		}
	}
	return nil
}
