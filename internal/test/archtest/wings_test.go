package archtest_test

import (
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// TestWings fails for an import that leaves its wing in a direction that the first
// lines of imports.txt do not name. Packages of no wing there (cmd, gendocs, test)
// may import everything; of the wings, only test kits may import them.
func TestWings(t *testing.T) {
	t.Parallel()
	allowed := parseWings(table)
	if len(allowed) == 0 {
		t.Fatal("imports.txt names no wing")
	}
	for pkg, imports := range readImports(t, os.DirFS("../../..")) {
		from := wing(pkg)
		may, bound := allowed[from]
		if !bound {
			continue
		}
		for imp, file := range imports {
			to := wing(imp)
			if isKit(imp) && !isKit(pkg) {
				t.Errorf("%s: %s may not import %s: only tests and test kits may", file, pkg, imp)
			}
			if to != from && to != "test" && !isKit(pkg) && !slices.Contains(may, to) {
				t.Errorf("%s: %s may not import %s: the wings are %s -> %s", file, pkg, imp, from, strings.Join(may, " "))
			}
		}
	}
}

// TestHostProgram fails if the program of worker hosts, which runs once for each version,
// links a package that it does not need: of the server, of the command line, or the
// embedded object store.
func TestHostProgram(t *testing.T) {
	t.Parallel()
	linked := links(readImports(t, os.DirFS("../../..")), "cmd/svchost")
	for pkg := range linked {
		if w := wing(pkg); slices.Contains([]string{"program", "client", "server", "edge"}, w) || pkg == "internal/data/s3server" {
			t.Errorf("cmd/svchost links %s", pkg)
		}
	}
	if !linked["internal/host/workerhost"] {
		t.Errorf("cmd/svchost links %d packages, but no worker host", len(linked))
	}
}

// clientMay is what the client links of the wings that have a server's code: names and tokens.
var clientMay = []string{"internal/host/binding/kinds", "internal/fleet/join"}

// TestClientProgram fails if the light program, which pipelines download, links code of a server, of a worker
// host, or of databases.
func TestClientProgram(t *testing.T) {
	t.Parallel()
	linked := links(readImports(t, os.DirFS("../../..")), "cmd/svcctl-client")
	for pkg := range linked {
		w := wing(pkg)
		if slices.Contains([]string{"server", "fleet", "edge", "host", "data"}, w) && !slices.Contains(clientMay, pkg) {
			t.Errorf("cmd/svcctl-client links %s", pkg)
		}
	}
	if !linked["internal/client/cli"] {
		t.Errorf("cmd/svcctl-client links %d packages, but no commands", len(linked))
	}
}

// links is the packages of this module that a program has in it.
func links(imports map[string]map[string]string, program string) map[string]bool {
	seen, todo := map[string]bool{}, []string{program}
	for len(todo) > 0 {
		pkg := todo[0]
		todo = todo[1:]
		if seen[pkg] {
			continue
		}
		seen[pkg] = true
		for imp := range imports[pkg] {
			todo = append(todo, imp)
		}
	}
	return seen
}

// isKit reports whether a package is for tests: svctest, objstoretest, e2e.
func isKit(pkg string) bool {
	return wing(pkg) == "test" || strings.HasSuffix(path.Base(pkg), "test")
}

// parseWings reads the lines "wing … -> wing …": which wings one may import.
func parseWings(table string) map[string][]string {
	allowed := map[string][]string{}
	for line := range strings.Lines(table) {
		from, to, ok := strings.Cut(line, "->")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		for w := range strings.FieldsSeq(from) {
			allowed[w] = strings.Fields(to)
		}
	}
	return allowed
}

// wing is the part of the house that a package stands in: "host", "cmd".
func wing(pkg string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(pkg, "internal/"), "/")
	return name
}

// TestDocFiles fails for a package without doc.go, where readers look for what a package is
// and where it stands. Programs have their text in main.go.
func TestDocFiles(t *testing.T) {
	t.Parallel()
	top := os.DirFS("../../..")
	for pkg := range readImports(t, top) {
		if _, err := os.Stat(path.Join("../../..", pkg, "main.go")); err == nil {
			continue
		}
		text, err := os.ReadFile(path.Join("../../..", pkg, "doc.go"))
		if err != nil || !strings.Contains("\n"+string(text), "\n// Package ") {
			t.Errorf("%s has no doc.go with the text of the package: %v", pkg, err)
		}
	}
}
