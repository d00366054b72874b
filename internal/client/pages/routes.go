package pages

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// handler is one export of a file that answers requests.
type handler struct {
	file   string // relative to the directory of functions, with slashes
	export string
	method string // "" for all
	path   string // that it answers: "/api/:id", "/files/:rest*"
	mount  string // of its directory

	middleware bool
}

var (
	handlerName = regexp.MustCompile(`^onRequest(Get|Put|Post|Patch|Delete|Options|Head)?$`)
	manyParam   = regexp.MustCompile(`\[\[([^\]]+)\]\]`)
	oneParam    = regexp.MustCompile(`\[([^\]]+)\]`)
	anyParam    = regexp.MustCompile(`:(\w+)(\*?)`)
)

// Files finds the scripts below the directory of functions, relative to it and sorted.
func Files(dir string) (files []string, err error) {
	err = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "node_modules" {
			return fs.SkipDir
		}
		if slices.Contains([]string{".js", ".mjs", ".jsx", ".ts", ".tsx"}, filepath.Ext(file)) && !strings.HasSuffix(file, ".d.ts") && !d.IsDir() {
			rel, err := filepath.Rel(dir, file)
			files = append(files, filepath.ToSlash(rel))
			return err
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the Pages Functions: %w", err)
	}
	return files, nil
}

// handlers are the handlers of files with some exports, in the order in which they are tried.
func handlers(files []string, exports map[string][]string) (list []handler, err error) {
	for _, file := range files {
		for _, export := range slices.Sorted(slices.Values(exports[file])) {
			m := handlerName.FindStringSubmatch(export)
			if m == nil {
				continue
			}
			h := handler{file: file, export: export, method: strings.ToUpper(m[1])}
			if err := h.place(); err != nil {
				return nil, err
			}
			list = append(list, h)
		}
	}
	slices.SortStableFunc(list, order)
	return list, nil
}

// place finds the path that the file of a handler stands for.
func (h *handler) place() error {
	dir, name := path.Split(h.file)
	name = strings.TrimSuffix(name, path.Ext(name))
	h.middleware = name == "_middleware"
	if h.middleware || name == "index" {
		name = ""
	}
	named := func(p string) string {
		return oneParam.ReplaceAllString(manyParam.ReplaceAllString(path.Join("/", p), ":$1*"), ":$1")
	}
	h.mount, h.path = named(dir), named(path.Join(dir, name))
	for _, m := range oneParam.FindAllStringSubmatch(strings.NewReplacer("[[", "[", "]]", "]").Replace(h.file), -1) {
		if strings.Trim(m[1], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
			return svc.Errorf(svc.Unprocessable, svc.CodeConfigInvalid, "functions/%s has the parameter %q: a name has letters, digits and underscores", h.file, m[1])
		}
	}
	return nil
}

// order puts the more specific handler first: by its number of segments, then by what is
// fixed in them, then by its method.
func order(a, b handler) int {
	as, bs := a.segments(), b.segments()
	if len(as) != len(bs) {
		return cmp.Compare(len(bs), len(as))
	}
	for i := range as {
		for _, mark := range []string{"*", ":"} {
			if c := falseFirst(strings.Contains(as[i], mark), strings.Contains(bs[i], mark)); c != 0 {
				return c
			}
		}
	}
	return cmp.Or(falseFirst(a.method == "", b.method == ""), cmp.Compare(a.path, b.path))
}

func (h handler) segments() []string {
	return strings.FieldsFunc(h.path, func(c rune) bool { return c == '/' })
}

func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
