package provision_test

import (
	"context"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/svcctl/svcctl/internal/host/provision"
	"github.com/svcctl/svcctl/internal/svc"
)

// The workerd of a package is used unchanged: without npm, and without the cache.
func TestPackaged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Packaged = filepath.Join(w.dir, "lib")
	want := filepath.Join(w.options.Packaged, version, "workerd")
	write(t, want, script("echo '"+versionLine+"'"), 0o755)
	for name, search := range map[string]func(context.Context, provision.Options) (string, error){"Find": provision.Find, "Ensure": provision.Ensure} {
		if got, err := search(t.Context(), w.options); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", name, got, err, want)
		}
	}
	if calls := w.calls(t); calls != nil {
		t.Errorf("npm was asked: %v", calls)
	}
}

// A package that left an older workerd behind does not stop the program.
func TestPackagedOfAnotherVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Packaged = filepath.Join(w.dir, "lib")
	write(t, filepath.Join(w.options.Packaged, version, "workerd"), script("echo workerd 2000-01-01"), 0o755)
	want := filepath.Join(w.options.CacheDir, "workerd", version, "workerd")
	if got, err := provision.Ensure(t.Context(), w.options); err != nil || got != want {
		t.Errorf("Ensure: %s, %v; want %s", got, err, want)
	}
}

// TestOfNPM: a program that npm installed uses the workerd that npm installed with it, wherever in the tree
// that is, if its digest is right. A program that npm did not install takes none from such a directory.
func TestOfNPM(t *testing.T) {
	t.Parallel()
	platform := runtime.GOOS + "/" + runtime.GOARCH
	good, bad := script("echo '"+versionLine+"'"), script("echo '"+versionLine+"' # else")
	for name, tc := range map[string]struct{ program, workerd, text, digest string }{
		"hoisted":           {"node_modules/@svcctl/full-x/bin/svcctl", "node_modules/" + pkgName, good, good},
		"a hard link":       {"node_modules/svcctl/svcctl.js", "node_modules/" + pkgName, good, good},
		"nested":            {"node_modules/@svcctl/full-x/bin/svcctl", "node_modules/@svcctl/full-x/node_modules/" + pkgName, good, good},
		"another workerd":   {"node_modules/@svcctl/full-x/bin/svcctl", "node_modules/" + pkgName, bad, good},
		"no digest":         {"node_modules/@svcctl/full-x/bin/svcctl", "node_modules/" + pkgName, good, ""},
		"not by npm":        {"bin/svcctl", "node_modules/" + pkgName, good, good},
		"npm without ours":  {"node_modules/@svcctl/full-x/bin/svcctl", "else/" + pkgName, good, good},
		"of another parent": {"node_modules/svcctl/svcctl.js", "node_modules/else/node_modules/" + pkgName, good, good},
	} {
		w := newWorld(t)
		pkg := w.options.Release.Packages[platform]
		pkg.Binary = ""
		if tc.digest != "" {
			pkg.Binary = integrity([]byte(tc.digest))
		}
		w.options.Release.Packages[platform] = pkg
		w.options.Program = filepath.Join(w.dir, tc.program)
		there := filepath.Join(w.dir, tc.workerd, "bin", "workerd")
		write(t, there, tc.text, 0o755)
		got, err := provision.Find(t.Context(), w.options)
		if found := err == nil && got == there; found != slices.Contains([]string{"hoisted", "a hard link", "nested"}, name) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// The binary of another platform is installed without being run, and verified all the same.
func TestEnsureForAnotherPlatform(t *testing.T) {
	t.Parallel()
	data := pack(t, map[string]string{"package/bin/workerd": "no program of this machine"})
	for digest, code := range map[string]string{integrity(data): "", integrity([]byte("other")): "workerd_checksum_mismatch"} {
		w := newWorld(t)
		write(t, w.tarball, string(data), 0o644)
		w.options.Platform = "plan9/mips"
		w.options.Release.Packages["plan9/mips"] = provision.Package{Name: pkgName, Integrity: digest}
		if _, err := provision.Ensure(t.Context(), w.options); svc.CodeOf(err) != code {
			t.Errorf("Ensure: %v, want the code %q", err, code)
		}
	}
}
