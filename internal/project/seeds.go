package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/svcctl/svcctl/internal/bundle"
)

// SeedsDir is the directory of a worker that holds its seeds.
const SeedsDir = "seed"

const codeSeed = "seed_invalid"

// Seeds are the files that one binding of a version starts with, in the
// order they are imported.
type Seeds struct {
	Binding string
	Files   []Seed
}

// Seed is one file of it.
type Seed struct {
	Name string // relative to the directory of seeds, with slashes
	Path string // absolute
}

// seedForm is what the seeds of a kind look like.
type seedForm struct {
	exts  []string // of a file called like the binding
	below string   // in a directory called like the binding: files with this extension, or "*" for all, at any depth
}

//nolint:gochecknoglobals // a constant table
var seedForms = map[string]seedForm{
	"database":     {exts: []string{".sql", ".sqlite", ".db"}, below: ".sql"},
	"kv":           {exts: []string{".jsonl"}},
	"object_store": {below: "*"},
}

// want says what a binding's seed is called.
func (f seedForm) want(binding string) string {
	var names []string
	for _, ext := range f.exts {
		names = append(names, binding+ext)
	}
	switch f.below {
	case "":
	case "*":
		names = append(names, binding+"/ with a file for each object")
	default:
		names = append(names, binding+"/ with "+f.below+" files")
	}
	return strings.Join(names, ", ")
}

// Seeds lists the files in the worker's directory of seeds. They belong to
// bindings, by name; what belongs to none is refused. Names that begin with a
// dot are passed over, but for those of objects.
func (f *File) Seeds(bindings []bundle.Binding) ([]Seeds, error) {
	dir := filepath.Join(f.Root, SeedsDir)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing the seeds: %w", err)
	}
	l := &seedList{dir: dir, bindings: bindings}
	for _, e := range entries {
		if err := l.entry(e.Name()); err != nil {
			return nil, fmt.Errorf("listing the seeds: %w", err)
		}
	}
	return l.list, l.err()
}
