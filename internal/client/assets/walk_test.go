package assets_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/client/assets"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// links makes links below dir, by their names.
func links(t *testing.T, dir string, list map[string]string) {
	t.Helper()
	for name, target := range list {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// The files of developers are no assets, and are named, unless .assetsignore takes them back.
func TestPrivateFiles(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		ignore string
		want   []string
		named  string // "" for no notice
	}{
		"by default": {"", []string{"a.html", "sub/env.txt"}, ".dev.vars, .dev.vars.staging, .env, .git, node_modules, sub/.env.local, sub/node_modules"},
		"taken back": {
			"!.env\n!/.git\n!node_modules\n",
			[]string{".env", ".git/config", "a.html", "node_modules/x.js", "node_modules/y/z.js", "sub/env.txt", "sub/node_modules/w.js"},
			".dev.vars, .dev.vars.staging, sub/.env.local",
		},
		"one file":     {"!node_modules/y/z.js\n", []string{"a.html", "node_modules/y/z.js", "sub/env.txt"}, ".dev.vars, .dev.vars.staging, .env, .git, node_modules, sub/.env.local, sub/node_modules"},
		"known":        {".env*\n.dev.vars*\n.git\nnode_modules\n", []string{"a.html", "sub/env.txt"}, ""},
		"of something": {"*.html\n!a.html\n", []string{"a.html", "sub/env.txt"}, ".dev.vars, .dev.vars.staging, .env, .git, node_modules, sub/.env.local, sub/node_modules"},
	} {
		dir := svctest.Files(t, map[string]string{
			".env": "x", ".dev.vars": "x", ".dev.vars.staging": "x", ".git/config": "x", "node_modules/x.js": "x", "node_modules/y/z.js": "x", "a.html": "x",
			"sub/.env.local": "x", "sub/node_modules/w.js": "x", "sub/env.txt": "x", ".assetsignore": tc.ignore,
		})
		names, found := collect(t, assets.Request{Dir: dir})
		if diff := cmp.Diff(tc.want, names); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		notices := strings.Join(found.Notices, "\n")
		if tc.named == "" && notices != "" || !strings.Contains(notices, tc.named) {
			t.Errorf("%s: notices %q", name, notices)
		}
	}
}

// A link counts as the file or the directory that it leads to.
func TestLinks(t *testing.T) {
	t.Parallel()
	dir := svctest.Files(t, map[string]string{"sub/y.txt": "x", "sub/deep/z.txt": "x", ".env": "x", "old.psd": "x", ".assetsignore": "*.psd\ngone\n"})
	links(t, dir, map[string]string{
		"again": "sub", "file.txt": "sub/y.txt", "sub/up": "..", "lost": "nowhere", "gone": "nowhere", "secret.txt": ".env", "picture.txt": "old.psd", "twice": "again",
	})
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	names, found := collect(t, assets.Request{Dir: dir})
	want := []string{"again/deep/z.txt", "again/y.txt", "file.txt", "sub/deep/z.txt", "sub/y.txt", "twice/deep/z.txt", "twice/y.txt"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	notices := strings.Join(found.Notices, "\n")
	for _, left := range []string{
		".env", "lost (a link that leads nowhere)", "pipe (no plain file)", "secret.txt (a link to what is not uploaded)", "picture.txt (a link to what is not uploaded)",
		"sub/up (a link to a directory above it)",
	} {
		if !strings.Contains(notices, left) {
			t.Errorf("%s is not named in %q", left, notices)
		}
	}
	if strings.Contains(notices, "gone") {
		t.Errorf("what the project ignores is named: %q", notices)
	}
}

// Links that lead out of the directory are refused, all of them by name, until the project ignores them.
func TestLinksLeadOut(t *testing.T) {
	t.Parallel()
	project := svctest.Files(t, map[string]string{"public/index.html": "x", "other/x.txt": "x", "tokens.yaml": "x", "public-2/a.txt": "x"})
	dir := filepath.Join(project, "public")
	links(t, dir, map[string]string{"dir": "../other", "tok.yaml": "../tokens.yaml", "passwd": "/etc/passwd", "near": "../public-2", "in": "index.html"})
	_, err := assets.Collect(assets.Request{Dir: dir})
	if svc.CodeOf(err) != svc.CodeAssetsInvalid || !strings.Contains(err.Error(), ": dir, near, passwd, tok.yaml") {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".assetsignore"), []byte("dir\nnear\npasswd\ntok.yaml\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	names, found := collect(t, assets.Request{Dir: dir})
	if !cmp.Equal(names, []string{"in", "index.html"}) || len(found.Notices) > 0 {
		t.Errorf("%v, %q", names, found.Notices)
	}
	// A directory that is a link itself is as good as the one that it leads to.
	if err := os.Symlink(dir, filepath.Join(project, "site")); err != nil {
		t.Fatal(err)
	}
	if names, _ := collect(t, assets.Request{Dir: filepath.Join(project, "site")}); !cmp.Equal(names, []string{"in", "index.html"}) {
		t.Errorf("%v", names)
	}
}
