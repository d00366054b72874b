package assets

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// walk lists the assets of a directory. A link counts as what it leads to, which has to be in the
// directory; what is left out by a rule that the project did not write is named.
type walk struct {
	found   *Found
	root    string // without links
	rules   ignore // of the project
	private ignore
	left    []string // names that are left out
	out     []string // links that lead out of the directory
}

// collect lists the assets of a directory that the rules do not ignore.
func (f *Found) collect(dir string, rules ignore) error {
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return fmt.Errorf("read assets: %w", err)
	}
	w := &walk{found: f, root: root, rules: rules, private: parseIgnore(private)}
	if err := w.directory(dir, "", []string{root}, false); err != nil {
		return err
	}
	if len(w.left) > 0 {
		f.Notices = append(f.Notices, fmt.Sprintf("%s: not uploaded: %s; a line with ! before the name in %s uploads it", dir, listed(w.left), ignoreFile))
	}
	if len(w.out) > 0 {
		return svc.Errorf(svc.Unprocessable, svc.CodeAssetsInvalid, "links lead out of the directory of the assets %s: %s", dir, listed(w.out)).
			WithHint("copy the files into the directory, or name the links in %s", filepath.Join(dir, ignoreFile))
	}
	return nil
}

// directory takes the entries of a directory, whose name is "" for the root. above are the real paths of it and
// the directories above it. hidden says that a private rule ignores it, and that a rule of the project may take back something in it.
func (w *walk) directory(at, name string, above []string, hidden bool) error {
	entries, err := os.ReadDir(at)
	if err != nil {
		return fmt.Errorf("read assets: %w", err)
	}
	for _, e := range entries {
		if err := w.entry(filepath.Join(at, e.Name()), path.Join(name, e.Name()), e, above, hidden); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) entry(at, name string, e fs.DirEntry, above []string, hidden bool) error {
	info, err := os.Stat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist) && e.Type()&fs.ModeSymlink != 0: // nothing to take, whatever the rules say
		if ignored, _ := w.rules.match(name, false); !ignored {
			w.left = append(w.left, name+" (a link that leads nowhere)")
		}
		return nil
	case err != nil:
		return fmt.Errorf("read assets: %w", err)
	}
	skip, hides := w.skips(name, info.IsDir(), hidden)
	if skip {
		return nil
	}
	real := at
	if e.Type()&fs.ModeSymlink != 0 {
		if real, skip, err = w.follow(at, name, info, above); skip || err != nil {
			return err
		}
	}
	switch {
	case info.IsDir():
		return w.directory(at, name, append(slices.Clip(above), w.resolved(real)), hides)
	case !info.Mode().IsRegular():
		w.left = append(w.left, name+" (no plain file)")
	default:
		w.found.add(at, name, info)
	}
	return nil
}

// skips reports whether an entry is no asset, and whether only what the project's rules take back below it is.
func (w *walk) skips(name string, isDir, hidden bool) (skip, hides bool) {
	if ignored, by := w.rules.match(name, isDir); by {
		return ignored, false
	}
	named, _ := w.private.match(name, isDir)
	if !named && !hidden {
		return false, false
	}
	if !hidden { // what is in it is not named one by one
		w.left = append(w.left, name)
	}
	return !isDir || !w.rules.takesBackIn(name), true
}

// follow returns where a link leads to, and whether it is left out.
func (w *walk) follow(at, name string, info fs.FileInfo, above []string) (real string, skip bool, err error) {
	if real, err = filepath.EvalSymlinks(at); err != nil {
		return "", false, fmt.Errorf("read assets: %w", err)
	}
	rel, relErr := filepath.Rel(w.root, real)
	switch {
	case relErr != nil || !filepath.IsLocal(rel):
		w.out = append(w.out, name)
		return real, true, nil //nolint:nilerr // collect returns one error for all of them
	case slices.Contains(above, real):
		w.left = append(w.left, name+" (a link to a directory above it)")
		return real, true, nil
	case w.ignores(filepath.ToSlash(rel), info.IsDir()):
		w.left = append(w.left, name+" (a link to what is not uploaded)")
		return real, true, nil
	}
	return real, false, nil
}

// ignores reports whether a path or a directory above it is ignored.
func (w *walk) ignores(name string, isDir bool) bool {
	for at := name; at != "."; at, isDir = path.Dir(at), true {
		ignored, by := w.rules.match(at, isDir)
		if !by {
			ignored, _ = w.private.match(at, isDir)
		}
		if ignored {
			return true
		}
		if by {
			return false // taken back
		}
	}
	return false
}

// resolved is a path without links.
func (*walk) resolved(at string) string {
	if real, err := filepath.EvalSymlinks(at); err == nil {
		return real
	}
	return at
}

// mostListed is how many names a line has.
const mostListed = 10

func listed(names []string) string {
	if len(names) > mostListed {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:mostListed], ", "), len(names)-mostListed)
	}
	return strings.Join(names, ", ")
}
