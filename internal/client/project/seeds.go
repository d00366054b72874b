package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding/kinds"
)

// SeedsDir is the directory of a worker that holds its seeds.
const SeedsDir = "seed"

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

// seedsOf is the form of a binding's seeds; false when its kind takes none.
func seedsOf(b bundle.Binding) (kinds.Seeds, bool) {
	k, _ := kinds.Named(b.Kind)
	return k.Seeds, k.Seeds.Any()
}

// seedNames says how a binding's seed is named.
func seedNames(form kinds.Seeds, binding string) string {
	var names []string
	for _, ext := range form.Exts {
		names = append(names, binding+ext)
	}
	switch form.Below {
	case "":
	case "*":
		names = append(names, binding+"/ with a file for each object")
	default:
		names = append(names, binding+"/ with "+form.Below+" files")
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
