package project

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/svcctl/svcctl/internal/client/evaluate"
	"github.com/svcctl/svcctl/internal/svc"
)

// The project files that are programs.
const (
	typedFile   = "cloudflare.config.ts"
	toolingFile = "wrangler.config.ts"
)

// loadTyped evaluates cloudflare.config.ts, with wrangler.config.ts beside it, and reads what it exports.
func (f foundFile) loadTyped(dir string, opts Options, notices []Notice) (*File, []Notice, error) {
	shown := display(dir, f.Path)
	if opts.Env != "" {
		return nil, nil, svc.Errorf(svc.Unprocessable, svc.CodeConfigEnvUnknown, "%s has no environments, so there is no %q", shown, opts.Env).
			WithHint("use --mode %s: the file sees it as mode", opts.Env)
	}
	command := ""
	if opts.Entry == "" && (matches(f.Root, "vite.config.*") || adapter(f.Root) != "") {
		if command = BuildCommand(f.Root); command == "" {
			command = runnerOf(f.Root).program + "vite build"
		}
		if !opts.Unbuilt {
			return nil, nil, svc.Errorf(svc.Unprocessable, svc.CodeConfigNotBuilt, "%s is built by Vite, and there is no Build Output in %s", shown, display(dir, filepath.Join(f.Root, outputDir))).
				WithHint("build the project first: CLOUDFLARE_VITE_FORCE_BUILD_OUTPUT=true %s, or npx cf build", command)
		}
	}
	r, err := evaluated(f.Path, opts)
	if err != nil {
		return nil, nil, err
	}
	top, read, err := f.typedTop(r, shown)
	if err != nil {
		return nil, nil, err
	}
	if opts.own, err = ownSection(r, f.Path); err != nil {
		return nil, nil, err
	}
	f.Inputs, opts.shownOwn, opts.typed = r.Inputs, shown, true
	if command != "" {
		f.ToBuild = command
		notices = append(notices, Notice{Info, shown, "the worker is what the build of the project writes: run " + command + " before a deploy"})
	}
	notices, err = f.takeWith(read, top, opts, notices)
	return f.File, notices, err
}

// evaluated evaluates a project file that is a program.
func evaluated(path string, opts Options) (evaluate.Result, error) {
	tooling := filepath.Join(filepath.Dir(path), toolingFile)
	if !isFile(tooling) {
		tooling = ""
	}
	return evaluate.Config(context.Background(), evaluate.Request{ //nolint:forbidigo // Load has no context, and an evaluation has its own limit
		File: path, Tooling: tooling, Mode: opts.Mode, Preview: opts.Previews, Environ: opts.Environ, Engine: opts.Engine,
	})
}

// typedTop makes one project file of what the files export.
func (f foundFile) typedTop(r evaluate.Result, shown string) (*node, *reader, error) {
	if r.Worker == nil {
		return nil, nil, svc.Errorf(svc.Unprocessable, svc.CodeConfigInvalid, "%s defines no worker", shown).
			WithHint("export default defineConfig({ worker: { name: …, entrypoint: …, compatibilityDate: … } })")
	}
	read := &reader{file: shown, taken: map[string]string{}}
	worker, err := placed(r.Worker, f.Path, "")
	if err != nil {
		return nil, nil, err
	}
	top := translate(read, worker)
	t := translation{read, top}
	if main := top.get("main"); main != nil && main.kind == kindString {
		main.text = f.entrypoint(main.text)
	}
	if r.Tooling != nil {
		tooling, err := placed(r.Tooling, filepath.Join(f.Root, toolingFile), filepath.Join(filepath.Dir(shown), toolingFile))
		if err != nil {
			return nil, nil, err
		}
		t.tooling(tooling)
	}
	if r.Containers > 0 {
		n := &node{kind: kindArray, pos: worker.pos, items: slices.Repeat([]*node{{kind: kindBool, yes: true, pos: worker.pos}}, r.Containers)}
		top.members = append(top.members, member{"containers", worker.pos, n})
	}
	return top, read, nil
}

// entrypoint is the path of an entry module. A package that has it is looked up as an import.
func (f foundFile) entrypoint(text string) string {
	if filepath.IsAbs(text) || strings.HasPrefix(text, ".") || isFile(under(f.Dir, text)) {
		return text
	}
	if path := filepath.Join(f.Dir, "node_modules", filepath.FromSlash(text)); isFile(path) {
		return path
	}
	return text
}

// placed reads a value with the places that it has in a source, which messages call shown unless it is the
// project file.
func placed(value []byte, source, shown string) (*node, error) {
	n, err := parseJSONC(value)
	if err != nil {
		return nil, fmt.Errorf("reading what %s exports: %w", filepath.Base(source), err)
	}
	text, err := os.ReadFile(source)
	if err != nil {
		return nil, notReadable(source, err)
	}
	p := placesOf(text, shown)
	p.relocate(n, max(0, strings.Index(p.source, "export default")))
	return n, nil
}

// ownSection is the export svcctl of a project file, as an object with the section of that name; nil for none.
func ownSection(r evaluate.Result, path string) (*node, error) {
	if r.Own == nil {
		return nil, nil
	}
	n, err := parseJSONC([]byte(`{"svcctl":` + string(r.Own) + `}`))
	if err != nil {
		return nil, fmt.Errorf("reading what %s exports: %w", strconv.Quote(path), err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, notReadable(path, err)
	}
	placesOf(text, "").relocate(n, 0)
	return n, nil
}
