package project

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

// Assets is the section assets, or what a Pages project means by its output directory.
type Assets struct {
	Dir              string // absolute
	Binding          string // "" for none
	HTMLHandling     string // "" for the default
	NotFoundHandling string // "" for the default
	WorkerFirst      bundle.WorkerFirst
	Ignore           []string // lines before those of .assetsignore
	Pages            bool     // Dir is the output directory of a Pages project
}

// assets reads the section, over which the flag wins.
func (l *layers) assets(f *File) {
	n, at := l.get("assets"), l.path("assets")
	switch {
	case n == nil:
	case n.kind == kindString && n.text != "": // as wrangler 3 wrote it
		f.Assets = &Assets{Dir: under(f.Dir, n.text)}
	case l.r.is(n, at, kindObject):
		f.Assets = l.assetsSection(f, n, at)
	}
	pages := l.get("pages_build_output_dir")
	if text := l.r.text(pages, "pages_build_output_dir"); text != "" && f.Assets == nil && l.get("main") == nil {
		f.Assets = &Assets{Dir: under(f.Dir, text), Binding: "ASSETS", Pages: true}
	}
	if l.flags.Assets == "" {
		return
	}
	if f.Assets == nil {
		f.Assets = &Assets{}
	}
	f.Assets.Dir, f.Assets.Pages = l.flags.Assets, false
}

func (l *layers) assetsSection(f *File, n *node, at string) *Assets {
	l.r.members(n, at, []string{"directory", "binding", "html_handling", "not_found_handling", "run_worker_first"}, nil)
	mode := func(key string, modes ...string) string {
		value := n.get(key)
		text := l.r.text(value, at+"."+key)
		if text != "" && !slices.Contains(modes, text) {
			l.r.problem(svc.CodeConfigInvalid, at+"."+key, value.pos, "%s.%s is %q; the values are %s", at, key, text, strings.Join(modes, ", "))
		}
		return text
	}
	a := &Assets{
		Dir:              under(f.Dir, l.r.text(n.get("directory"), at+".directory")),
		HTMLHandling:     mode("html_handling", bundle.HTMLAutoTrailingSlash, bundle.HTMLForceTrailingSlash, bundle.HTMLDropTrailingSlash, bundle.HTMLNone),
		NotFoundHandling: mode("not_found_handling", bundle.NotFoundNone, bundle.NotFound404, bundle.NotFoundSPA),
		WorkerFirst:      l.workerFirst(n.get("run_worker_first"), at+".run_worker_first"),
	}
	if b := n.get("binding"); b != nil {
		if a.Binding = l.r.text(b, at+".binding"); a.Binding != "" {
			l.r.bindResource(a.Binding, at, b.pos)
		}
	}
	if a.Dir == "" && l.flags.Assets == "" {
		l.withoutDirectory(f, n, at)
	}
	l.withoutMain(f, n, at, a)
	return a
}

// withoutDirectory reports a directory that is missing. The builds of frameworks write it,
// with a project file of its own.
func (l *layers) withoutDirectory(f *File, n *node, at string) {
	if l.madeByBuild(f, n.pos, at+".directory", "") {
		return
	}
	if l.flags.typed {
		l.r.problem(svc.CodeConfigInvalid, at, n.pos, "%s has no directory: name it as assetsDirectory in %s", at, toolingFile)
		return
	}
	l.r.problem(svc.CodeConfigInvalid, at, n.pos, `%s has no "directory"%s`, at, typo(n, "directory"))
}

// withoutMain reports what assets without a worker cannot have.
func (l *layers) withoutMain(f *File, n *node, at string, a *Assets) {
	if l.get("main") != nil || l.flags.Entry != "" || a.Binding == "" && a.WorkerFirst.IsZero() {
		return
	}
	if matches(f.Dir, builtBy...) && l.madeByBuild(f, n.pos, "main", "") {
		return
	}
	if a.Binding != "" {
		l.r.problem(svc.CodeConfigInvalid, at+".binding", n.get("binding").pos, "%s.binding needs a worker, and main is missing", at)
	}
	if !a.WorkerFirst.IsZero() {
		l.r.problem(svc.CodeConfigInvalid, at+".run_worker_first", n.get("run_worker_first").pos, "%s.run_worker_first needs a worker, and main is missing", at)
	}
}

func (l *layers) workerFirst(n *node, at string) (w bundle.WorkerFirst) {
	if n == nil {
		return w
	}
	if n.kind != kindArray {
		w.All = l.r.flag(n, at, false)
		return w
	}
	w.Patterns = l.r.texts(n, at)
	for i, p := range w.Patterns {
		if !strings.HasPrefix(strings.TrimPrefix(p, "!"), "/") {
			l.r.problem(svc.CodeConfigInvalid, at, n.items[min(i, len(n.items)-1)].pos, "%s has the pattern %q, which begins neither with / nor with !/", at, p)
		}
	}
	return w
}

// Pages completes a Pages project from its output directory, which the build command may
// have made: a worker in it or the folder functions/, its routes, and what there is for
// missing pages. Errors are Unprocessable: config_invalid.
func (f *File) Pages() error {
	a := f.Assets
	if a == nil || !a.Pages {
		return nil
	}
	a.Ignore = []string{"/_worker.js", "/_routes.json", "/functions", "/node_modules", ".git", ".DS_Store"}
	a.NotFoundHandling = bundle.NotFoundSPA
	if isFile(filepath.Join(a.Dir, "404.html")) {
		a.NotFoundHandling = bundle.NotFound404
	}
	worker := filepath.Join(a.Dir, "_worker.js")
	switch info, missing := os.Stat(worker); {
	case missing != nil:
		return f.functions()
	case info.IsDir():
		// A tool made the modules: they are used unchanged.
		f.Main = filepath.Join(worker, "index.js")
		f.Bundling.NoBundle, f.Bundling.FindAdditional = true, true
		f.Bundling.Rules = append(f.Bundling.Rules, Rule{Type: "ESModule", Globs: []string{"**/*.js", "**/*.mjs"}})
	default:
		f.Main = worker
	}
	f.Bundling.BaseDir = filepath.Dir(f.Main)
	return f.routes()
}

// functions takes the folder functions/, if there is one.
func (f *File) functions() error {
	dir := filepath.Join(f.Root, "functions")
	if !isDir(dir) {
		f.Assets.Binding = ""
		return nil
	}
	f.Functions, f.Main = dir, filepath.Join(f.Root, "functions.js")
	f.Bundling.NoBundle, f.Bundling.FindAdditional, f.Bundling.BaseDir = false, false, f.Root
	return f.routes()
}

// routes reads _routes.json: which paths are the worker's.
func (f *File) routes() error {
	f.Assets.WorkerFirst = bundle.WorkerFirst{All: true}
	file := filepath.Join(f.Assets.Dir, "_routes.json")
	data, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("reading the routes: %w", err)
	}
	var routes struct {
		Include []string `json:"include"`
		Exclude []string `json:"exclude"`
	}
	if err := json.Unmarshal(data, &routes); err != nil {
		return svc.Errorf(svc.Unprocessable, svc.CodeConfigInvalid, "%s is no JSON with the lists include and exclude", file).Because(err)
	}
	f.Assets.WorkerFirst = bundle.WorkerFirst{Patterns: PagesRoutes(routes.Include, routes.Exclude)}
	return nil
}

// PagesRoutes are the rules of a _routes.json as patterns of run_worker_first. On Pages a rule
// holds with a slash at its end and without one, and "/a/*" holds for "/a".
func PagesRoutes(include, exclude []string) (patterns []string) {
	add := func(sign string, rules []string) {
		for _, rule := range rules {
			patterns = append(patterns, sign+rule)
			switch short := strings.TrimSuffix(strings.TrimSuffix(rule, "*"), "/"); {
			case short == "":
			case short == rule:
				patterns = append(patterns, sign+rule+"/")
			case strings.HasSuffix(rule, "/*") || strings.HasSuffix(rule, "/"):
				patterns = append(patterns, sign+short)
			}
		}
	}
	add("", include)
	add("!", exclude)
	return patterns
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
