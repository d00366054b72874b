// Crossvet checks the packages of a module, tests included, for other systems than this one: it
// type-checks them and runs the analyzers of go vet on them. go vet GOOS=… compiles all
// dependencies first, which takes minutes; this reads the declarations of their sources only.
//
//	go -C internal/tools run ./crossvet -tags e2e ../.. darwin/amd64 darwin/arm64
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

func main() {
	tags := flag.String("tags", "", "build tags, with commas between")
	flag.Parse()
	if flag.NArg() < 2 {
		fmt.Fprintln(os.Stderr, "usage: crossvet [-tags TAGS] DIRECTORY OS/ARCHITECTURE...")
		os.Exit(2)
	}
	problems := 0
	for _, target := range flag.Args()[1:] {
		n, err := check(flag.Arg(0), target, *tags)
		if err != nil {
			fmt.Fprintf(os.Stderr, "crossvet: %s: %v\n", target, err)
			os.Exit(1)
		}
		problems += n
	}
	if problems > 0 {
		os.Exit(1)
	}
}

// check prints the problems of a module for a target, and returns their number.
func check(dir, target, tags string) (problems int, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return 0, err
	}
	system, machine, ok := strings.Cut(target, "/")
	if !ok {
		return 0, fmt.Errorf("%q is not a system and an architecture, such as darwin/arm64", target)
	}
	all, err := packages.Load(&packages.Config{
		Mode: packages.LoadAllSyntax | packages.NeedModule, Dir: dir, Tests: true, BuildFlags: []string{"-tags=" + tags},
		Env:       append(os.Environ(), "GOOS="+system, "GOARCH="+machine, "CGO_ENABLED=0"),
		ParseFile: declarations(dir),
	}, "./...")
	if err != nil {
		return 0, err
	}
	all = slices.DeleteFunc(all, func(p *packages.Package) bool { return strings.HasSuffix(p.ID, ".test") }) // generated mains
	if len(all) == 0 {
		return 0, fmt.Errorf("no packages in %s", dir)
	}
	seen := map[string]bool{} // a package with tests is loaded twice
	report := func(where, what string) {
		if line := fmt.Sprintf("%s: %s: %s", target, where, what); !seen[line] {
			seen[line] = true
			fmt.Fprintln(os.Stderr, line)
		}
	}
	for _, p := range all {
		for _, e := range p.Errors {
			report(e.Pos, e.Msg)
		}
	}
	if len(seen) > 0 {
		return len(seen), nil
	}
	return len(seen), vet(all, report)
}

// vet runs the analyzers. Dependencies without bodies of functions count as sound.
func vet(all []*packages.Package, report func(where, what string)) error {
	packages.Visit(all, nil, func(p *packages.Package) { p.IllTyped = false })
	graph, err := checker.Analyze(analyzers(), all, nil)
	if err != nil {
		return err
	}
	for _, act := range graph.Roots {
		if act.Err != nil {
			return fmt.Errorf("%s of %s: %w", act.Analyzer.Name, act.Package.ID, act.Err)
		}
		for _, d := range act.Diagnostics {
			report(act.Package.Fset.Position(d.Pos).String(), act.Analyzer.Name+": "+d.Message)
		}
	}
	return nil
}

// declarations parses files. Outside of a directory it drops the bodies of functions.
func declarations(dir string) func(*token.FileSet, string, []byte) (*ast.File, error) {
	return func(set *token.FileSet, name string, text []byte) (*ast.File, error) {
		file, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution|parser.ParseComments)
		if file == nil || strings.HasPrefix(name, dir+string(filepath.Separator)) {
			return file, err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				f.Body = nil
			}
		}
		return file, err
	}
}
