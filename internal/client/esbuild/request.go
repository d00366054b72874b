package esbuild

import "github.com/svcctl/svcctl/internal/bundle"

// Request is one worker to build. Paths are absolute.
type Request struct {
	Dir   string // of the project; paths in messages and source maps start here
	Entry string // file of the entry module

	// Source is the text of the entry module, if it is generated: Entry is then what it is
	// called, and there is no such file.
	Source string

	CompatibilityDate  string
	CompatibilityFlags []string

	NoBundle       bool   // use files unchanged
	FindAdditional bool   // add the files below BaseDir that Rules name
	PreserveNames  bool   // name collected modules by their path
	BaseDir        string // "" is the directory of Entry
	Rules          []Rule // before the default ones

	// Modules are all modules by their path below BaseDir, in place of those that Rules find; nil for none.
	Modules map[string]bundle.ModuleType

	Define      map[string]string
	Alias       map[string]string // exact import path to what is imported instead
	Minify      bool
	KeepNames   bool
	TSConfig    string // "" lets esbuild look beside the sources
	JSXFactory  string
	JSXFragment string
	SourceMaps  bool
}

// Rule names files that are modules of their own. Of the rules of one type the
// first ends the list, unless it falls through.
type Rule struct {
	Type        bundle.ModuleType
	Globs       []string
	Fallthrough bool
}

// Result is a built worker.
type Result struct {
	Main     string   // name of the entry module
	Modules  []Module // the entry module first, then by name
	Flags    []string // compatibility flags that the modules need besides
	Inputs   []string // files that were read, absolute and sorted
	Warnings []string // as the details of errors
}

// Module is one module of the worker.
type Module struct {
	Name      string
	Type      bundle.ModuleType
	Content   []byte
	SourceMap []byte // nil for none
}
