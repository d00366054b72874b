package esbuild

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/svcctl/svcctl/internal/svc"
)

//go:embed helpers.js
var helpers string

// The modules that stand in for others. The packages that define helpers are listed newest first.
const (
	helperPackages = `^(cf/config|@cloudflare/config(/public)?|wrangler/experimental-config|@cloudflare/vite-plugin/experimental-config)$`
	withoutFiles   = `^(node:)?(fs|fs/promises|child_process|net|tls|dgram|http|https|http2|worker_threads|cluster|sqlite)$`
	noFiles        = `const why = (name) => () => { throw new Error(name + " of node:%s is not there: the file is evaluated without files, network and processes"); };
module.exports = new Proxy({}, { get: (_, name) => typeof name === "symbol" || name === "__esModule" ? undefined : name === "default" ? module.exports : why(name), has: () => true });`
)

// Program is one module of project files that are programs.
type Program struct {
	Source []byte
	Map    []byte   // its source map
	Inputs []string // the files that were read, absolute
}

// StandsIn reports whether a source of a map is no file of the project: a module that stands in for a package.
func StandsIn(source string) bool {
	return strings.HasPrefix(source, "nofiles:") || strings.HasPrefix(source, "helpers:")
}

// Programs makes one module of project files below dir. It exports what each file exports as one object with the
// file's name in files. Packages with helpers for such files need not be installed, and modules of Node that
// read files or the network throw when they are used. Errors are Unprocessable: config_invalid.
func Programs(dir string, files map[string]string) (Program, error) {
	var entry strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&entry, "export * as %s from %s;\n", name, strconv.Quote(files[name]))
	}
	r := api.Build(api.BuildOptions{
		Stdin:         &api.StdinOptions{Contents: entry.String(), ResolveDir: dir, Sourcefile: "svcctl:entry"},
		AbsWorkingDir: dir, Outdir: dir, Bundle: true, Format: api.FormatESModule, Platform: api.PlatformNode, Target: api.ES2024,
		Metafile: true, Sourcemap: api.SourceMapExternal, LogLevel: api.LogLevelSilent, Plugins: []api.Plugin{programPlugin()},
	})
	if len(r.Errors) > 0 {
		return Program{}, notProgram(r.Errors)
	}
	var p Program
	for _, f := range r.OutputFiles {
		if strings.HasSuffix(f.Path, ".map") {
			p.Map = f.Contents
		} else {
			p.Source = f.Contents
		}
	}
	var err error
	p.Inputs, err = programInputs(dir, r.Metafile)
	return p, err
}

func programPlugin() api.Plugin {
	return api.Plugin{Name: "config", Setup: func(b api.PluginBuild) {
		stands(b, "helpers", helperPackages, func(string) string { return helpers })
		stands(b, "nofiles", withoutFiles, func(path string) string {
			return fmt.Sprintf(noFiles, strings.TrimPrefix(path, "node:"))
		})
		b.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			if a.With["type"] != "cf-worker" {
				return api.OnResolveResult{}, nil
			}
			path := a.Path
			if strings.HasPrefix(path, ".") {
				path = filepath.Join(a.ResolveDir, path)
			}
			return api.OnResolveResult{Path: path, Namespace: "entrypoint"}, nil
		})
		b.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: "entrypoint"}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
			text := "export default " + strconv.Quote(a.Path)
			return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}, nil
		})
	}}
}

// stands has text in place of the packages that match filter.
func stands(b api.PluginBuild, namespace, filter string, text func(path string) string) {
	b.OnResolve(api.OnResolveOptions{Filter: filter}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
		return api.OnResolveResult{Path: a.Path, Namespace: namespace}, nil
	})
	b.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: namespace}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
		source := text(a.Path)
		return api.OnLoadResult{Contents: &source, Loader: api.LoaderJS}, nil
	})
}

// notProgram is the error of files that esbuild cannot read.
func notProgram(messages []api.Message) error {
	var lines []string
	for _, m := range messages {
		line := m.Text
		if l := m.Location; l != nil {
			line = fmt.Sprintf("%s:%d:%d: %s", l.File, l.Line, l.Column+1, m.Text)
			if l.LineText != "" {
				line += sourceLine(l)
			}
		}
		lines = append(lines, line)
	}
	e := svc.Errorf(svc.Unprocessable, svc.CodeConfigInvalid, "%s", strings.Join(lines, "\n"))
	if strings.Contains(messages[0].Text, "Could not resolve") {
		return e.WithHint("install the packages of the project first (npm install)")
	}
	return e
}

func sourceLine(l *api.Location) string {
	return fmt.Sprintf("\n  %5d | %s", l.Line, strings.TrimSpace(l.LineText))
}

// programInputs lists the files that were read.
func programInputs(dir, metafile string) (files []string, err error) {
	var m struct {
		Inputs map[string]struct{} `json:"inputs"`
	}
	if err := json.Unmarshal([]byte(metafile), &m); err != nil {
		return nil, fmt.Errorf("reading esbuild's metafile: %w", err)
	}
	for name := range m.Inputs {
		if !strings.Contains(name, ":") {
			files = append(files, filepath.Join(dir, filepath.FromSlash(name)))
		}
	}
	return files, nil
}
