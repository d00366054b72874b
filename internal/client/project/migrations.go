package project

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Migration is one SQL file of a database.
type Migration struct {
	Name string // relative to the directory, with slashes: what is recorded when applied
	Path string // absolute
}

// Migrations lists the migrations of d in the order wrangler applies them:
// by the number a name begins with, then by name.
func (d Database) Migrations() ([]Migration, []Notice, error) {
	names, linked, err := matching(d.MigrationsDir, d.MigrationsPattern)
	if errors.Is(err, fs.ErrNotExist) {
		if d.explicitDir {
			return nil, []Notice{{Warning, d.MigrationsDir, "the directory of the migrations of " + d.Binding + " does not exist"}}, nil
		}
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("listing the migrations of %s: %w", d.Binding, err)
	}
	var notices []Notice
	if len(linked) > 0 {
		notices = append(notices, Notice{Warning, d.MigrationsDir, "no migrations are looked for in links to directories: " + strings.Join(linked, ", ")})
	}
	if len(names) == 0 {
		if nested, _, err := matching(d.MigrationsDir, "*/migration.sql"); err == nil && len(nested) > 0 {
			notices = append(notices, Notice{
				Warning, d.MigrationsDir,
				"no migrations match, but there are some in directories of their own: set migrations_pattern to <migrations_dir>/*/migration.sql",
			})
		}
	}
	slices.SortFunc(names, compareNames)
	list := make([]Migration, len(names))
	for i, name := range names {
		list[i] = Migration{Name: name, Path: filepath.Join(d.MigrationsDir, filepath.FromSlash(name))}
	}
	return list, notices, nil
}

// matching lists the files below dir that match; a link to a file is one. linked are the links to directories.
func matching(dir, pattern string) (names, linked []string, err error) {
	patterns := braces(pattern)
	err = fs.WalkDir(os.DirFS(dir), ".", func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		mode := e.Type()
		if mode&fs.ModeSymlink != 0 {
			info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(p)))
			if err == nil && info.IsDir() {
				linked = append(linked, p)
			}
			if mode = 0; err == nil { // a link that leads nowhere is an error when the file is read
				mode = info.Mode().Type()
			}
		}
		if !mode.IsRegular() {
			return nil
		}
		for _, alternative := range patterns {
			if matchParts(strings.Split(alternative, "/"), strings.Split(p, "/")) {
				names = append(names, p)
				break
			}
		}
		return nil
	})
	return names, linked, err
}

// braces expands {a,b} in a pattern.
func braces(pattern string) []string {
	open := strings.IndexByte(pattern, '{')
	if open < 0 {
		return []string{pattern}
	}
	length := strings.IndexByte(pattern[open:], '}')
	if length < 0 {
		return []string{pattern}
	}
	var all []string
	for choice := range strings.SplitSeq(pattern[open+1:open+length], ",") {
		all = append(all, braces(pattern[:open]+choice+pattern[open+length+1:])...)
	}
	return all
}

// matchParts matches a path against a pattern in which ** stands for any number
// of directories. Names that begin with a dot match only when asked for.
func matchParts(pattern, name []string) bool {
	if len(pattern) == 0 {
		return len(name) == 0
	}
	if pattern[0] == "**" {
		for skip := range len(name) + 1 {
			if skip > 0 && strings.HasPrefix(name[skip-1], ".") {
				return false
			}
			if matchParts(pattern[1:], name[skip:]) {
				return true
			}
		}
		return false
	}
	if len(name) == 0 || strings.HasPrefix(name[0], ".") && !strings.HasPrefix(pattern[0], ".") {
		return false
	}
	ok, err := path.Match(pattern[0], name[0])
	return err == nil && ok && matchParts(pattern[1:], name[1:])
}

// compareNames orders two migrations part by part; parts with a number come
// first, in the numbers' order.
func compareNames(a, b string) int {
	as, bs := strings.Split(a, "/"), strings.Split(b, "/")
	for i := range min(len(as), len(bs)) {
		if c := compareParts(as[i], bs[i]); c != 0 {
			return c
		}
	}
	return len(as) - len(bs)
}

func compareParts(a, b string) int {
	an, aok := leadingNumber(a)
	bn, bok := leadingNumber(b)
	switch {
	case aok && bok && an != bn:
		return cmp.Compare(an, bn)
	case aok != bok && aok:
		return -1
	case aok != bok:
		return 1
	}
	return strings.Compare(a, b)
}

func leadingNumber(s string) (uint64, bool) {
	end := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(s)
	}
	n, err := strconv.ParseUint(s[:end], 10, 64)
	return n, err == nil
}
