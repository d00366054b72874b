//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// wordWorker answers with a word.
func wordWorker(word string) string {
	return `export default { fetch: () => new Response("` + word + `") };`
}

// editor is the files of a directory, as editors change them. The first failure ends the test.
type editor struct {
	t   *testing.T
	dir string
}

func (e editor) path(name string) string { return filepath.Join(e.dir, name) }

func (e editor) do(err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatal(err)
	}
}

func (e editor) write(name, text string) {
	e.t.Helper()
	e.do(os.WriteFile(e.path(name), []byte(text), 0o600))
}

func (e editor) rename(from, to string) {
	e.t.Helper()
	e.do(os.Rename(e.path(from), e.path(to)))
}

func (e editor) remove(name string) {
	e.t.Helper()
	e.do(os.Remove(e.path(name)))
}

// eventually waits until the address answers with a word.
func (d *developer) eventually(want string) {
	d.t.Helper()
	svctest.Succeeds(d.t, want, func() error {
		status, body, err := d.try(http.MethodGet, "/", "")
		if err == nil && (status != http.StatusOK || body != want) {
			err = fmt.Errorf("%d %q", status, body)
		}
		return err
	})
}

// Each way in which editors save a file makes a version of its content, and what they write
// beside it makes none.
func TestDevEditors(t *testing.T) {
	t.Parallel()
	d := newDeveloper(t, map[string]string{
		"wrangler.jsonc": `{ "name": "edited", "main": "index.js", "compatibility_date": "2026-11-01" }`, "index.js": wordWorker("one"),
	})
	d.start()
	d.await(`save 1 `)
	e := editor{t, d.dir}
	for _, save := range []struct {
		editor string
		save   func(text string)
	}{
		{"nano: in place", func(text string) { e.write("index.js", text) }},
		{"an atomic save", func(text string) {
			e.write("index.js.4711", text)
			e.rename("index.js.4711", "index.js")
		}},
		{"JetBrains' safe write", func(text string) {
			e.write("index.js___jb_tmp___", text)
			e.rename("index.js", "index.js___jb_old___")
			e.rename("index.js___jb_tmp___", "index.js")
			e.remove("index.js___jb_old___")
		}},
		{"vim: a backup by renaming", func(text string) {
			e.write(".index.js.swp", "vim")
			e.write("4913", "")
			e.remove("4913")
			e.rename("index.js", "index.js~")
			e.write("index.js", text)
			e.do(os.Chmod(e.path("index.js"), 0o644))
			e.remove("index.js~")
			e.remove(".index.js.swp")
		}},
		{"Emacs: a lock that leads nowhere, and a backup by copying", func(text string) {
			e.do(os.Symlink("ada@laptop.4711:1", e.path(".#index.js")))
			e.write("index.js~", "before")
			e.write("index.js", text)
			e.remove(".#index.js")
			e.remove("index.js~")
		}},
		{"a file that is deleted and made again", func(text string) {
			e.remove("index.js")
			d.await(`main names index.js, which does not exist`)
			e.write("index.js", text)
		}},
		{"a file whose directory is replaced", func(text string) {
			e.do(os.Mkdir(e.path("lib"), 0o700))
			e.write("lib/word.js", "export default 'draft'")
			e.write("index.js", `import word from "./lib/word.js"; export default { fetch: () => new Response(word) };`)
			d.eventually("draft")
			e.rename("lib", "lib.old")
			e.do(os.Mkdir(e.path("lib"), 0o700))
			e.write("lib/word.js", "export default '"+strings.Split(text, `"`)[1]+"'")
			e.do(os.RemoveAll(e.path("lib.old")))
		}},
	} {
		word := strings.NewReplacer(" ", "-", ":", "", "'", "").Replace(save.editor)
		save.save(wordWorker(word))
		d.eventually(word)
	}
	if line := regexp.MustCompile(`(?m)^.* save \d+  .*(~|swp|4913|jb_|\.#).*$`).FindString(d.out.String()); line != "" {
		t.Errorf("a file that is no part of the worker made a version: %s", line)
	}
}

// A checkout of another branch, with 500 files that differ, is few versions, of which the last is
// that of the branch.
func TestDevCheckout(t *testing.T) {
	t.Parallel()
	const files = 500
	branch := func(value int) map[string]string {
		tree := map[string]string{"wrangler.jsonc": `{ "name": "branches", "main": "index.js", "compatibility_date": "2026-11-01" }`}
		var imports, sum strings.Builder
		for i := range files {
			tree[fmt.Sprintf("lib/%d.js", i)] = fmt.Sprintf("export default %d;", value)
			fmt.Fprintf(&imports, "import f%d from \"./lib/%d.js\";\n", i, i)
			fmt.Fprintf(&sum, " + f%d", i)
		}
		tree["index.js"] = imports.String() + "export default { fetch: () => new Response(String(0" + sum.String() + ")) };"
		return tree
	}
	d := newDeveloper(t, branch(1))
	git := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = d.dir
		cmd.Env = append(d.env, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	git("init", "-q", "-b", "one")
	git("add", ".")
	git("commit", "-q", "-m", "one")
	git("checkout", "-q", "-b", "three")
	for name, text := range branch(3) {
		d.write(name, text)
	}
	git("commit", "-q", "-a", "-m", "three")
	d.start()
	d.await(`save 1 `)
	d.eventually("1500")
	git("checkout", "-q", "one")
	d.eventually("500")
	git("checkout", "-q", "three")
	d.eventually("1500")
	// What git writes after the build of a checkout has begun can make one more.
	if n := len(d.saves("branches")); n > 5 {
		t.Errorf("two checkouts made %d saves", n-1)
	}
}

// A framework's build writes in steps: one build is one save, and what only its later steps
// read is none.
func TestDevFramework(t *testing.T) {
	t.Parallel()
	const client = ".svelte-kit/cloudflare"
	d := newDeveloper(t, map[string]string{
		"wrangler.jsonc": `{ "name": "kit", "main": "` + client + `/_worker.js", "compatibility_date": "2026-11-01",
		  "assets": { "directory": "` + client + `" } }`,
		"package.json":                `{ "scripts": { "build": "vite build" } }`,
		".svelte-kit/output/page.js":  `export default "one";`,
		client + "/.assetsignore":     "_worker.js\n",
		client + "/_app/immutable.js": "1",
		client + "/_worker.js":        `import page from "../output/page.js"; export default { fetch: () => new Response(page) };`,
	})
	d.start()
	d.await(`save 1 `)
	d.expect("/", "one")
	e := editor{t, d.dir}
	e.remove(".svelte-kit/output/page.js")
	d.expect("/", "one") // the build continues
	e.write(".svelte-kit/output/page.js", `export default "two";`)
	d.expect("/", "one")
	e.do(os.RemoveAll(e.path(client)))
	for _, name := range []string{".assetsignore", "_app/immutable.js", "_app/version.json", "_headers", "_worker.js"} {
		e.do(os.MkdirAll(filepath.Dir(e.path(client+"/"+name)), 0o700))
		e.write(client+"/"+name, map[string]string{
			".assetsignore": "_worker.js\n", "_worker.js": `import page from "../output/page.js"; export default { fetch: () => new Response(page) };`,
		}[name])
	}
	d.await(`save 2  output of npm run build \(\d+ files\)`)
	d.expect("/", "two")
	svctest.Eventually(t, "the list to have the save", func() bool { return len(d.saves("kit")) >= 2 })
	if n := len(d.saves("kit")); n != 2 || strings.Contains(d.out.String(), "does not build") || !strings.Contains(d.out.String(), "run npm run build after a change") {
		t.Errorf("%d saves:\n%s", n, d.out.String())
	}
}
