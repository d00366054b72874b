package project

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// Options choose what Load reads.
type Options struct {
	Config string // a project file; "" looks for one from the directory upwards
	Env    string // an environment of it; "" for the top level
	// Previews puts the section previews over the rest of the file.
	Previews bool
	// Unbuilt accepts what the build of the project adds before a deploy.
	Unbuilt bool

	// What wins over the file. Entry is the absolute path of the entry module: the
	// file is looked for from its directory upwards, and may be missing.
	Entry              string
	CompatibilityDate  string
	CompatibilityFlags []string
	Assets             string   // absolute path of the directory of static files
	AllowMissing       []string // keys in addition to those of the file

	// For a project file that is a program (cloudflare.config.ts): what it sees as mode and as its
	// environment, and where workerd is, which evaluates it.
	Mode    string
	Environ []string
	Engine  func(context.Context) (string, error)

	typed    bool   // the file is translated: it is not one of wrangler
	own      *node  // what the project's own file says, if a build tool generated the one that is read; else nil
	shownOwn string // what messages call it
}

// fileNames are the names of project files, in wrangler's order.
var fileNames = []string{"wrangler.json", "wrangler.jsonc", "wrangler.toml"} //nolint:gochecknoglobals // a constant list

// redirectFile is how build tools point at the project file they generated.
const redirectFile = ".wrangler/deploy/config.json"

// Load reads the project file that holds for dir: the one in the nearest
// directory, dir itself first. Wrangler looks for wrangler.json in all
// directories above before it looks at a wrangler.jsonc; here the nearest wins.
func Load(dir string, opts Options) (*File, []Notice, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("finding the project: %w", err)
	}
	f, notices, err := locate(dir, opts)
	if err != nil {
		return nil, nil, err
	}
	if f.Path == "" && f.ToBuild != "" {
		return f.File, notices, nil // there is no file to read yet
	}
	return f.load(dir, opts, notices)
}

// load reads the file that was found.
func (f foundFile) load(dir string, opts Options, notices []Notice) (*File, []Notice, error) {
	switch {
	case f.output != nil:
		return f.loadOutput(dir, opts, notices)
	case filepath.Base(f.Path) == typedFile:
		return f.loadTyped(dir, opts, notices)
	}
	top, err := readFile(dir, f.Path)
	if err != nil {
		return nil, nil, err
	}
	if f.generated {
		if opts.own, err = readFile(dir, f.own); err != nil {
			return nil, nil, err
		}
		opts.shownOwn = display(dir, f.own)
	}
	shown := "the command line"
	if f.Path != "" {
		shown = display(dir, f.Path)
	}
	notices, err = f.take(top, opts, shown, notices)
	return f.File, notices, err
}

// readFile parses a project file; "" is an empty one.
func readFile(dir, path string) (*node, error) {
	if path == "" {
		return &node{kind: kindObject}, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, notReadable(path, err)
	}
	top, err := parse(path, data)
	if err != nil {
		return nil, invalid(display(dir, path), err)
	}
	return top, nil
}

// Environments returns the names of the environments that the project file for dir defines, in its
// order. config is a project file; "" looks for one, as [Load] does.
func Environments(dir, config string) (names []string, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("finding the project: %w", err)
	}
	f, _, err := locate(dir, Options{Config: config})
	if err != nil {
		return nil, err
	}
	if f.output != nil || filepath.Base(f.Path) == typedFile {
		return nil, nil // it has modes
	}
	data, err := os.ReadFile(f.Path)
	if err != nil {
		return nil, notReadable(f.Path, err)
	}
	top, err := parse(f.Path, data)
	if err != nil {
		return nil, invalid(display(dir, f.Path), err)
	}
	if envs := top.get("env"); envs != nil {
		for _, m := range envs.members {
			names = append(names, m.key)
		}
	}
	return names, nil
}

// take fills f with what the file that is shown as shown says.
func (f *File) take(top *node, opts Options, shown string, notices []Notice) ([]Notice, error) {
	return f.takeWith(&reader{file: shown, taken: map[string]string{}}, top, opts, notices)
}

// takeWith is take with a reader that may have found problems already.
func (f *File) takeWith(r *reader, top *node, opts Options, notices []Notice) ([]Notice, error) {
	f.Env = opts.Env
	r.notices = append(notices, r.notices...)
	before := len(r.fields)
	if r.is(top, "the file", kindObject) {
		l := &layers{r: r, flags: opts, top: top}
		if l.choose(opts.Env); len(r.fields) == before {
			l.preview(opts.Previews)
			l.allow()
			l.judge(f)
			l.fill(f)
		}
	}
	if len(r.passed) > 0 {
		r.notices = append(r.notices, Notice{Info, r.file, "no effect here: " + strings.Join(r.passed, ", ")})
	}
	return r.notices, r.err()
}

func parse(path string, data []byte) (*node, error) {
	if filepath.Ext(path) == ".toml" {
		return parseTOML(data)
	}
	return parseJSONC(data)
}

func invalid(shown string, err error) error {
	if syntax, ok := errors.AsType[*syntaxError](err); ok {
		return svc.Errorf(svc.Unprocessable, svc.CodeConfigInvalid, "%s:%d:%d: %s", shown, syntax.pos.line, syntax.pos.col, syntax.text)
	}
	return svc.Errorf(svc.Unprocessable, svc.CodeConfigInvalid, "%s cannot be read", shown).Because(err)
}

func notReadable(path string, err error) error {
	return svc.Errorf(svc.Unprocessable, svc.CodeConfigNotFound, "the project file %s cannot be read", path).Because(err)
}

// foundFile is a project file that is not read yet.
type foundFile struct {
	*File

	generated bool   // by a build tool
	own       string // path of the project's own file beside a generated one; "" for none

	output *output // nil for a project file of wrangler or cloudflare.config.ts
}

// locate finds the project file, and the directory that it is for.
func locate(dir string, opts Options) (foundFile, []Notice, error) {
	var notices []Notice
	config, start := opts.Config, dir
	if opts.Entry != "" {
		start = filepath.Dir(opts.Entry)
	}
	if config != "" {
		if !filepath.IsAbs(config) {
			config = filepath.Join(dir, config)
		}
		if o, ok := outputOf(config); ok {
			return o.found(), nil, nil
		}
		if filepath.Base(config) == typedFile {
			return typedAt(filepath.Dir(config)), nil, nil
		}
		return found(config, filepath.Dir(config)), nil, nil
	}
	for at := start; ; at = filepath.Dir(at) {
		if o, ok := outputAt(at); ok && opts.Entry == "" { // an entry module is a source, and no output
			return o.found(), notices, nil
		}
		if len(present(at, typedFile)) > 0 {
			return found(filepath.Join(at, typedFile), at), notices, nil
		}
		files := present(at, fileNames...)
		if len(files) > 1 {
			notices = append(notices, Notice{Warning, display(dir, at), fmt.Sprintf(
				"there are %d project files; %s is used, as wrangler does", len(files), filepath.Base(files[0]))})
		}
		if redirect := present(at, redirectFile); len(redirect) > 0 {
			path, err := redirected(dir, redirect[0])
			notices = append(notices, Notice{Info, display(dir, path), "used in place of the project file, as " + redirectFile + " says"})
			f := found(path, at)
			f.generated = true
			if len(files) > 0 {
				f.own = files[0]
			}
			return f, notices, err
		}
		if len(files) > 0 {
			return found(files[0], at), notices, nil
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	if opts.Entry != "" || opts.Assets != "" {
		return foundFile{File: &File{Dir: start, Root: start}}, notices, nil
	}
	if f, more, err := unbuiltProject(start, opts); err != nil || f.File != nil {
		return f, append(notices, more...), err
	}
	return foundFile{}, nil, missing(dir)
}

func found(path, root string) foundFile {
	return foundFile{File: &File{Path: path, Dir: filepath.Dir(path), Root: root}}
}

// typedAt is cloudflare.config.ts of a directory, or the Build Output that was made of it.
func typedAt(dir string) foundFile {
	if o, ok := outputAt(dir); ok {
		return o.found()
	}
	return found(filepath.Join(dir, typedFile), dir)
}

func present(dir string, names ...string) []string {
	var found []string
	for _, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			found = append(found, path)
		}
	}
	return found
}

// redirected reads where a generated project file is: relative to the file that
// says so.
func redirected(dir, path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", notReadable(path, err)
	}
	shown := display(dir, path)
	root, err := parseJSONC(data)
	if err != nil {
		return "", invalid(shown, err)
	}
	target := root.get("configPath")
	if target == nil || target.kind != kindString || target.text == "" {
		return "", svc.Errorf(svc.Unprocessable, svc.CodeConfigInvalid, `%s has no "configPath"`, shown).
			WithHint("run the project's build again, or delete the file")
	}
	config := under(filepath.Dir(path), target.text)
	if _, err := os.Stat(config); err != nil {
		return "", svc.Errorf(svc.Unprocessable, svc.CodeConfigNotFound, "%s points at %s, which does not exist", shown, display(dir, config)).
			WithHint("run the project's build again, or delete the file").Because(err)
	}
	return config, nil
}

// display shortens a path to what a person in dir would call it.
func display(dir, path string) string {
	rel, err := filepath.Rel(dir, path)
	if err != nil || strings.HasPrefix(rel, "..") {
		return path
	}
	return rel
}
