package build

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/client/esbuild"
	"github.com/svcctl/svcctl/internal/client/project"
)

// Request says what to bundle, and who wants to hear of it.
type Request struct {
	Dir      string // the worker's directory, or one below it
	Entry    string // absolute path of the entry module; "" for the one that the project file names
	Config   string // project file; "" looks for one
	Env      string // environment of the project file; "" for its top level
	Previews bool   // the section previews of the project file holds
	Project  string // id of the project; "" takes the name in the project file
	NoBundle bool   // in addition to the project file's own setting
	Minify   bool   // in addition to the project file's own setting

	SourceMaps bool              // in addition to the project file's own setting
	Vars       map[string]string // text variables, over those of the project file
	Session    *esbuild.Session  // keeps its state from build to build; nil for one build

	CompatibilityDate  string   // "" for the project file's
	CompatibilityFlags []string // empty for the project file's
	Assets             string   // absolute path of the directory of static files; "" for the project file's
	AllowMissing       []string // in addition to the project file's own
	Detached           bool     // leaves the static files out of the bundle

	// For a project file that is a program: what it sees as mode, and where workerd is, which runs it.
	Mode   string
	Engine func(context.Context) (string, error)

	TempDir string // for the bundle; "" is the system's
	// Command is called in place of the build command, which run runs; nil runs it. It is not called
	// for a project without one.
	Command func(f *project.File, run func() error) error
	Environ []string     // for the build command; nil for this process's own
	Output  io.Writer    // takes what the build command prints; nil drops it
	Stage   func(string) // called as each stage begins; may be nil
}

// Result is a bundle in a file. The caller removes it.
type Result struct {
	File     string // a tar.zst
	Digest   string // "sha256:<hex>" of File
	Size     int64  // bytes of File
	Project  string // id of the project to deploy to
	Manifest bundle.Manifest
	Notices  []project.Notice // for people, in the order they came up
	Watch    []string         // files and directories that went in
	Modules  []esbuild.Module // of the worker, with their source maps
	Assets   []Asset          // that the bundle leaves out
	Config   *project.File    // the project file
}

// Asset is a static file and where it is on disk.
type Asset struct {
	bundle.File
	Disk string
}

// Remove deletes the file.
func (r *Result) Remove() { _ = os.Remove(r.File) }

// Load reads the project file, as Bundle does.
func (req Request) Load() (*project.File, []project.Notice, error) {
	return project.Load(req.Dir, project.Options{
		Config: req.Config, Env: req.Env, Previews: req.Previews, Entry: req.Entry, CompatibilityDate: req.CompatibilityDate, CompatibilityFlags: req.CompatibilityFlags,
		Assets:       req.Assets,
		AllowMissing: req.AllowMissing,
		Mode:         req.Mode, Environ: withoutTokens(req.Environ), Engine: req.Engine,
	})
}

// Bundle makes the bundle of a worker's directory. Equal sources give equal
// digests, wherever they are.
func Bundle(ctx context.Context, req Request) (*Result, error) {
	file, notices, err := req.Load() //nolint:contextcheck // an evaluation has its own limit
	if err != nil {
		return nil, err
	}
	req.setVars(file)
	r := &Result{Notices: notices, Config: file}
	if r.Project, err = file.ProjectID(req.Project); err != nil {
		return nil, err
	}
	if err := req.prebuild(ctx, file); err != nil {
		return nil, err
	}
	if err := file.Pages(); err != nil {
		return nil, err
	}
	built, err := req.modules(ctx, file)
	if err != nil {
		return nil, err
	}
	r.Modules = built.Modules
	for _, w := range built.Warnings {
		r.Notices = append(r.Notices, project.Notice{Level: project.Warning, Text: w})
	}
	req.stage("packing")
	return r, r.pack(file, built, req)
}

// modules builds the worker; nothing for assets alone.
func (req Request) modules(ctx context.Context, file *project.File) (esbuild.Result, error) {
	if file.Main == "" {
		return esbuild.Result{}, nil
	}
	if err := checkEntry(file); err != nil {
		return esbuild.Result{}, err
	}
	req.stage("bundling")
	source, err := functions(ctx, file)
	if err != nil {
		return esbuild.Result{}, err
	}
	session := req.Session
	if session == nil {
		session = &esbuild.Session{}
		defer session.Close()
	}
	built := req.esbuild(file)
	built.Source = source
	return session.Build(ctx, built)
}

// setVars puts the variables of the request over those of the project file.
func (req Request) setVars(f *project.File) {
	if len(req.Vars) > 0 && f.Vars == nil {
		f.Vars = map[string]bundle.Var{}
	}
	for name, value := range req.Vars {
		f.Vars[name] = bundle.TextVar(value)
	}
}

func (req Request) stage(name string) {
	if req.Stage != nil {
		req.Stage(name)
	}
}

// moduleTypes are wrangler's names of the types.
//
//nolint:gochecknoglobals // a constant table
var moduleTypes = map[string]bundle.ModuleType{
	"ESModule": bundle.ESModule, "CommonJS": bundle.CommonJS, "CompiledWasm": bundle.Wasm, "JSON": bundle.JSON, "Text": bundle.Text, "Data": bundle.Data,
}

func (req Request) esbuild(f *project.File) esbuild.Request {
	b := f.Bundling
	var rules []esbuild.Rule
	for _, r := range b.Rules {
		rules = append(rules, esbuild.Rule{Type: moduleTypes[r.Type], Globs: r.Globs, Fallthrough: r.Fallthrough})
	}
	var listed map[string]bundle.ModuleType
	for _, m := range b.Modules {
		if listed == nil {
			listed = map[string]bundle.ModuleType{}
		}
		listed[m.Name] = moduleTypes[m.Type]
	}
	return esbuild.Request{
		Dir: f.Dir, Entry: f.Main, CompatibilityDate: f.CompatibilityDate, CompatibilityFlags: f.CompatibilityFlags,
		NoBundle: b.NoBundle || req.NoBundle, FindAdditional: b.FindAdditional || req.NoBundle, PreserveNames: b.PreserveNames,
		BaseDir: b.BaseDir, Rules: rules, Modules: listed, Define: b.Define, Alias: b.Alias, Minify: b.Minify || req.Minify, KeepNames: b.KeepNames,
		TSConfig: b.TSConfig, JSXFactory: b.JSXFactory, JSXFragment: b.JSXFragment, SourceMaps: b.UploadSourceMaps || req.SourceMaps,
	}
}

// pack writes the bundle and fills in r.
func (r *Result) pack(f *project.File, built esbuild.Result, req Request) error {
	tree := bundle.Tree{}
	m := manifest(f)
	m.Main, m.CompatibilityFlags = built.Main, slices.Concat(f.CompatibilityFlags, built.Flags)
	for _, mod := range built.Modules {
		m.Modules = append(m.Modules, bundle.Module{Name: mod.Name, Type: mod.Type})
		tree[bundle.ModulePath(mod.Name)] = mod.Content
		if mod.SourceMap != nil {
			path := bundle.SourceMapPath(mod.Name)
			m.SourceMaps = append(m.SourceMaps, bundle.File{Path: path})
			tree[path] = mod.SourceMap
		}
	}
	if err := r.migrations(f, &m, tree); err != nil {
		return err
	}
	seeds, err := r.seeds(f, &m)
	if err != nil {
		return err
	}
	if seeds, err = r.assets(f, &m, seeds); err != nil {
		return err
	}
	if m.Assets != nil {
		m.Assets.Detached = req.Detached
	}
	r.Watch = append(r.Watch, built.Inputs...)
	if f.Path != "" {
		r.Watch = append(r.Watch, f.Path)
	}
	r.Watch = append(r.Watch, f.Inputs...)
	r.Watch = append(r.Watch, f.Build.WatchDirs...)
	return r.write(m, sources{tree, seeds}, req.TempDir)
}

func (r *Result) write(m bundle.Manifest, files sources, tempDir string) error {
	out, err := os.CreateTemp(tempDir, "svcctl-*.tar.zst")
	if err != nil {
		return fmt.Errorf("making a file for the bundle: %w", err)
	}
	packed, err := bundle.Pack(out, m, files)
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = os.Remove(out.Name())
		return err
	}
	r.File, r.Digest, r.Size, r.Manifest = out.Name(), packed.Digest, packed.Size, packed.Manifest
	if m = packed.Manifest; m.Assets != nil && m.Assets.Detached {
		for _, f := range m.Assets.Files {
			r.Assets = append(r.Assets, Asset{f, files.disk[f.Path]})
		}
	}
	r.tellSize()
	return nil
}

// tellSize warns of a bundle that a server refuses, unless its operator raised
// the limit, which is not known here [D42].
func (r *Result) tellSize() {
	var total int64
	for _, f := range r.Manifest.Files() {
		total += f.Size
	}
	if total > bundle.DefaultTotalBytes {
		r.Notices = append(r.Notices, project.Notice{Level: project.Warning, Text: fmt.Sprintf(
			"the files of the bundle have %d MiB together; a server takes %d MiB unless it was told otherwise. Large seeds can be imported later with svcctl d1 import",
			total>>20, bundle.DefaultTotalBytes>>20)})
	}
}
