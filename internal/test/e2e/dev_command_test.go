//go:build e2e

package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// runs counts the runs of the build command.
func (d *developer) runs() int {
	d.t.Helper()
	text, err := os.ReadFile(filepath.Join(d.dir, "builds.txt"))
	if err != nil {
		d.t.Fatal(err)
	}
	return strings.Count(string(text), "run\n")
}

// commandProject is a project whose build command notes its runs.
func commandProject(more, command string) string {
	return `{"name": "b", "compatibility_date": "2026-11-01", ` + more + `, "build": {"command": "echo run >> builds.txt && ` + command + `"}}`
}

// TestDevBuildCommand: the command runs once at the start and once for each change that a person makes,
// whatever it writes.
func TestDevBuildCommand(t *testing.T) {
	t.Parallel()
	worker := func(text string) string { return "export default { fetch: () => new Response('" + text + "') };" }
	imports := "import word from './made/word.js';\nexport default { fetch: () => new Response(word) };"
	copied := "mkdir -p dist && cp src/main.js dist/main.js"
	made := `mkdir -p src/made && (echo -n 'export default \"'; cat src/word.txt; echo '\"') > src/made/word.js`
	for name, tc := range map[string]struct {
		config  string
		files   map[string]string
		source  string // which a person changes
		content func(string) string
		path    string
	}{
		"a module":          {config: commandProject(`"main": "dist/main.js"`, copied), source: "src/main.js", content: worker},
		"a deleted output":  {config: commandProject(`"main": "dist/main.js"`, "rm -rf dist && "+copied), source: "src/main.js", content: worker},
		"the whole project": {config: strings.Replace(commandProject(`"main": "dist/main.js"`, copied), `{"command"`, `{"watch_dir": ["."], "command"`, 1), source: "src/main.js", content: worker},
		"a watched module": {
			config: commandProject(`"main": "src/index.js"`, made), files: map[string]string{"src/index.js": imports}, source: "src/word.txt", content: func(text string) string { return text },
		},
		"another text each time": {
			config: commandProject(`"main": "dist/main.js"`, copied+" && date +%s%N > src/stamp.txt"), source: "src/main.js", content: worker,
		},
		"static files": {
			config: commandProject(`"assets": {"directory": "public"}`, "mkdir -p public && cp src/page.txt public/page.txt"),
			source: "src/page.txt", content: func(text string) string { return text }, path: "page.txt",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDeveloper(t, tc.files)
			d.write("wrangler.jsonc", tc.config)
			d.write(tc.source, tc.content("one"))
			d.start()
			d.await("save 1  first build")
			d.expect("/"+tc.path, "one")
			for n, text := range []string{"two", "three"} {
				d.write(tc.source, tc.content(text))
				d.await(`save ` + []string{"2", "3"}[n] + `  ` + tc.source)
				d.expect("/"+tc.path, text)
				if got := d.runs(); got != n+2 {
					t.Errorf("%d runs of the build command, want %d", got, n+2)
				}
			}
			if strings.Contains(d.out.String(), "nothing changed") {
				t.Error("the session says that nothing changed")
			}
		})
	}
}

// TestDevBuildCommandFails: a command that fails and writes files runs again when a person changes one.
func TestDevBuildCommandFails(t *testing.T) {
	t.Parallel()
	d := newDeveloper(t, map[string]string{
		"wrangler.jsonc":    commandProject(`"main": "dist/main.js", "assets": {"directory": "public"}`, "mkdir -p dist && cp src/main.js dist/main.js && date +%s%N > dist/log.txt && test -f src/ready"),
		"src/main.js":       "export default { fetch: () => new Response('b') };",
		"public/index.html": "one",
	})
	d.start()
	d.await("the build command .*ended with exit status 1")
	d.write("src/other.txt", "x")
	d.await("ended with exit status 1")
	d.write("src/ready", "x")
	d.await("save 1 ")
	if got := d.runs(); got != 3 {
		t.Errorf("%d runs of the build command, want 3", got)
	}
	// A file that goes into the bundle and is not watched makes a save without the command.
	d.write("public/index.html", "two")
	d.await("save 2  public/index.html")
	d.expect("/", "two")
	if got := d.runs(); got != 3 {
		t.Errorf("%d runs of the build command after a change of a static file, want 3", got)
	}
}

// TestDevBuildCommandsOfTwo: two commands that watch what the other one writes do not start each other
// without end.
func TestDevBuildCommandsOfTwo(t *testing.T) {
	t.Parallel()
	config := func(name, other string) string {
		return `{"name": "` + name + `", "main": "out/main.js", "compatibility_date": "2026-11-01", "build": {"watch_dir": ["../src", "../` + other + `/out"],
			"command": "echo run >> ../builds.txt && mkdir -p out && cp ../src/main.js out/main.js && date +%s%N > out/stamp.txt"}}`
	}
	source := func(text string) string { return "export default { fetch: () => new Response('" + text + "') };" }
	d := newDeveloper(t, map[string]string{"a/wrangler.jsonc": config("a", "b"), "b/wrangler.jsonc": config("b", "a"), "src/main.js": source("one")})
	d.start("-c", "a/wrangler.jsonc", "-c", "b/wrangler.jsonc")
	host := "Host:" + strings.TrimPrefix(strings.Replace(d.address, "localhost", "b.localhost", 1), "http://")
	d.await(`b  save 1 `)
	d.await(`a  save 1 `)
	for _, text := range []string{"two", "three"} {
		d.write("src/main.js", source(text))
		svctest.Eventually(t, "both workers to serve the change", func() bool {
			_, own, a := d.try(http.MethodGet, "/", "")
			_, other, b := d.try(http.MethodGet, "/", "", host)
			return a == nil && b == nil && own == text && other == text
		})
	}
	if got := d.runs(); got > 12 { // the change of one is a change of the other, once
		t.Errorf("%d runs of two build commands", got)
	}
}
