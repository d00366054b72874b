package project

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding/kinds"
	"github.com/svcctl/svcctl/internal/svc"
)

// seedList collects what is found in one directory of seeds.
type seedList struct {
	dir      string
	bindings []bundle.Binding
	list     []Seeds
	fields   []svc.FieldError
}

func (l *seedList) problem(name, format string, args ...any) {
	at := SeedsDir + "/" + name
	l.fields = append(l.fields, svc.FieldError{Pointer: "/" + at, Code: svc.CodeSeedInvalid, Detail: at + ": " + fmt.Sprintf(format, args...)})
}

// err is all problems as one error.
func (l *seedList) err() error {
	if len(l.fields) == 0 {
		return nil
	}
	e := svc.Errorf(svc.Unprocessable, svc.CodeSeedInvalid, "%s", l.fields[0].Detail)
	if len(l.fields) > 1 {
		e.Detail = fmt.Sprintf("the directory %s has %d problems", SeedsDir, len(l.fields))
		e.Fields = l.fields
	}
	return e.WithHint("%s/ holds the data that versions begin with; a directory for something else needs another name", SeedsDir)
}

// entry takes one name of the directory.
func (l *seedList) entry(name string) error {
	info, err := os.Stat(filepath.Join(l.dir, name)) // a link to a large dump is fine
	switch {
	case err != nil:
		return err
	case strings.HasPrefix(name, "."), l.besideDatabase(name, info.Size()):
		return nil
	case !info.IsDir() && !info.Mode().IsRegular():
		l.problem(name, "is no plain file")
		return nil
	}
	stem := name
	if !info.IsDir() {
		stem = l.stem(name)
	}
	i := slices.IndexFunc(l.bindings, func(b bundle.Binding) bool { return b.Name == stem })
	if i < 0 {
		l.problem(name, "no binding is called %q; %s", stem, l.seedable())
		return nil
	}
	b := l.bindings[i]
	form, ok := seedsOf(b)
	if !ok {
		l.problem(name, "a binding of kind %s takes no seeds", b.Kind)
		return nil
	}
	if info.IsDir() && form.Below != "" {
		return l.directory(b, form)
	}
	if info.IsDir() || !slices.Contains(form.Exts, strings.TrimPrefix(name, stem)) {
		l.problem(name, "the seed of %s, a binding of kind %s, is %s", b.Name, b.Kind, seedNames(form, b.Name))
		return nil
	}
	l.add(b.Name, Seed{Name: name, Path: filepath.Join(l.dir, name)})
	return nil
}

// stem is the name of the binding that a file is for. The names of bindings may have dots: the
// longest that the file's name begins with is meant.
func (l *seedList) stem(file string) string {
	stem, _, _ := strings.Cut(file, ".")
	for _, b := range l.bindings {
		if strings.HasPrefix(file, b.Name+".") && len(b.Name) > len(stem) {
			stem = b.Name
		}
	}
	return stem
}

// besideDatabase is true for the files that SQLite keeps beside a database,
// which mean nothing once they are empty.
func (l *seedList) besideDatabase(name string, size int64) bool {
	for _, suffix := range []string{"-shm", "-wal", "-journal"} {
		base, ok := strings.CutSuffix(name, suffix)
		if !ok || !strings.Contains(base, ".") {
			continue
		}
		if suffix != "-shm" && size > 0 {
			l.problem(name, `holds changes that are not in %s yet: close what has the database open, or run sqlite3 %s/%s "pragma journal_mode = delete"`, base, SeedsDir, base)
		}
		return true
	}
	return false
}

// seedable lists the bindings that could have seeds.
func (l *seedList) seedable() string {
	var names []string
	for _, b := range l.bindings {
		if _, ok := seedsOf(b); ok {
			names = append(names, b.Name+" ("+b.Kind+")")
		}
	}
	if len(names) == 0 {
		return "the project file declares none that takes seeds"
	}
	return "those that take seeds are " + strings.Join(names, ", ")
}

// directory takes the files of a directory called like a binding.
func (l *seedList) directory(b bundle.Binding, form kinds.Seeds) error {
	var names []string
	objects := form.Below == "*"
	err := fs.WalkDir(os.DirFS(l.dir), b.Name, func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil, p == b.Name, objects && e.IsDir():
			return err
		case !objects && strings.HasPrefix(e.Name(), "."):
		case e.Type().IsRegular() && (objects || filepath.Ext(p) == form.Below):
			names = append(names, p)
			return nil
		default:
			l.problem(p, "the seed of %s, a binding of kind %s, is %s", b.Name, b.Kind, seedNames(form, b.Name))
		}
		if e.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(names, compareNames)
	files := make([]Seed, len(names))
	for i, name := range names {
		files[i] = Seed{Name: name, Path: filepath.Join(l.dir, filepath.FromSlash(name))}
	}
	l.add(b.Name, files...)
	return nil
}

func (l *seedList) add(binding string, files ...Seed) {
	if len(files) == 0 {
		return
	}
	for _, s := range l.list {
		if s.Binding == binding {
			l.problem(files[0].Name, "%s has seeds already: %s/%s", binding, SeedsDir, s.Files[0].Name)
			return
		}
	}
	l.list = append(l.list, Seeds{Binding: binding, Files: files})
}
