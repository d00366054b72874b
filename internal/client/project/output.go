package project

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/svcctl/svcctl/internal/svc"
)

// Where the Build Output is, below the project, and its files. A worker has a directory of its own.
const (
	outputDir     = ".cloudflare/output"
	defaultWorker = "default"
	workerConfig  = "worker.config.json"
	olderConfig   = "config.json" // of a worker, in the first trees
)

// outputVersions are the formats that are read, newest first.
//
//nolint:gochecknoglobals // a constant list
var outputVersions = []string{"v1", "v0"}

// output is the Build Output of a project.
type output struct {
	root    string   // of the project
	dir     string   // with the format's version: .cloudflare/output/v1
	configs []string // of the workers, the default one first
}

// outputAt finds the Build Output of a project; false without one.
func outputAt(root string) (output, bool) {
	for _, version := range outputVersions {
		o := output{root: root, dir: filepath.Join(root, filepath.FromSlash(outputDir), version)}
		workers, _ := os.ReadDir(filepath.Join(o.dir, "workers")) // none if it cannot be read
		for _, w := range workers {
			config := present(filepath.Join(o.dir, "workers", w.Name()), workerConfig, olderConfig)
			if len(config) > 0 && w.Name() == defaultWorker {
				o.configs = slices.Insert(o.configs, 0, config[0])
			} else if len(config) > 0 {
				o.configs = append(o.configs, config[0])
			}
		}
		if len(o.configs) > 0 {
			return o, true
		}
	}
	return output{}, false
}

// outputOf is the Build Output that the config of a worker belongs to; false for another file.
func outputOf(config string) (output, bool) {
	dir := filepath.Dir(filepath.Dir(config)) // …/v1/workers
	root := filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(dir))))
	if filepath.Base(dir) != "workers" || filepath.ToSlash(filepath.Join(outputDir, filepath.Base(filepath.Dir(dir)), "workers")) != filepath.ToSlash(relative(root, dir)) {
		return output{}, false
	}
	return output{root: root, dir: filepath.Dir(dir), configs: []string{config}}, true
}

func relative(dir, path string) string {
	rel, err := filepath.Rel(dir, path)
	if err != nil {
		return path
	}
	return rel
}

// Workers are the configs of the workers of the Build Output that holds for a directory, the default one
// first; nil unless there are several.
func Workers(dir string) []string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil
	}
	f, _, err := locate(dir, Options{})
	if err != nil || f.output == nil || len(f.output.configs) < 2 {
		return nil
	}
	return f.output.configs
}

// found is the project file of the default worker, or the only one.
func (o output) found() foundFile {
	f := found(o.configs[0], o.root)
	f.Dir, f.output = o.root, &o
	f.Output = filepath.Dir(o.configs[0])
	return f
}

// loadOutput reads a worker of a Build Output.
func (f foundFile) loadOutput(dir string, opts Options, notices []Notice) (*File, []Notice, error) {
	shown := display(dir, f.Path)
	if opts.Env != "" {
		return nil, nil, svc.Errorf(svc.Unprocessable, svc.CodeConfigEnvUnknown, "%s has no environments, so there is no %q", shown, opts.Env).
			WithHint("build the project with CLOUDFLARE_ENV=%s or --mode %[1]s", opts.Env)
	}
	n, err := readFile(dir, f.Path)
	if err != nil {
		return nil, nil, err
	}
	read := &reader{file: shown, taken: map[string]string{}}
	if !read.is(n, "the file", kindObject) {
		return nil, nil, read.err()
	}
	top := translate(read, n)
	modules := f.manifest(read, top, n)
	f.outputAssets(top, n.pos)
	if len(present(f.output.dir, "containers")) > 0 || isDir(filepath.Join(f.output.dir, "containers")) {
		top.members = append(top.members, member{"containers", n.pos, textNode("containers", n.pos)})
	}
	f.context(read, dir, opts)
	if err := f.ownOfOutput(dir, &opts); err != nil {
		return nil, nil, err
	}
	opts.typed = true
	notices, err = f.takeWith(read, top, opts, notices)
	f.Bundling.Modules = modules
	return f.File, notices, err
}

// outputAssets adds the directory of static files.
func (f foundFile) outputAssets(top *node, at pos) {
	dir := filepath.Join(f.Output, "assets")
	a := top.get("assets")
	if a == nil && !isDir(dir) {
		return
	}
	if a == nil {
		a = &node{kind: kindObject, pos: at}
		top.members = append(top.members, member{"assets", at, a})
	}
	a.members = append(a.members, member{"directory", at, textNode(dir, at)})
}

// ownOfOutput reads the export svcctl of cloudflare.config.ts, which a Build Output does not have.
func (f foundFile) ownOfOutput(dir string, opts *Options) error {
	path := filepath.Join(f.Root, typedFile)
	source, err := os.ReadFile(path)
	if err != nil || !exportsOwn.Match(source) {
		return nil //nolint:nilerr // there is no such file
	}
	r, err := evaluated(path, *opts)
	if err != nil {
		return err
	}
	f.Inputs = append(f.Inputs, path)
	opts.shownOwn = display(dir, path)
	opts.own, err = ownSection(r, path)
	return err
}
