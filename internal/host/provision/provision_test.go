package provision_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/host/provision"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	version     = "1.2.3"
	versionLine = "workerd 2020-01-02"
	pkgName     = "@example/workerd-test"
)

// world is a registry (a fake npm), a cache, and the release they agree on.
type world struct {
	dir     string // holds everything
	tarball string // what npm delivers
	options provision.Options
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{dir: dir, tarball: filepath.Join(dir, "served.tgz")}
	data := pack(t, map[string]string{
		"package/package.json": "{}",
		"package/bin/workerd":  script("echo '" + versionLine + "'"),
		"package/README.md":    "hello",
	})
	write(t, w.tarball, string(data), 0o644)
	w.options = provision.Options{
		CacheDir: filepath.Join(dir, "cache"),
		NPM:      filepath.Join(dir, "npm"),
		Release: &provision.Release{
			Version: version, VersionLine: versionLine,
			Packages: map[string]provision.Package{
				runtime.GOOS + "/" + runtime.GOARCH: {Name: pkgName, Integrity: integrity(data), Binary: integrity([]byte(script("echo '" + versionLine + "'")))},
			},
		},
	}
	w.npm(t, `cp "`+w.tarball+`" ./example-workerd-test-1.2.3.tgz`)
	return w
}

// npm makes npm do body after it has noted its arguments.
func (w *world) npm(t *testing.T, body string) {
	t.Helper()
	text := w.options.NPM + ".txt"
	write(t, text, script(`echo "$*" >>"`+w.dir+`/calls"`+"\n"+body), 0o755)
	// Another process writes the program: a test that forks meanwhile would
	// inherit our descriptor, and a file open for writing cannot be executed.
	if out, err := exec.CommandContext(t.Context(), "cp", "-p", text, w.options.NPM).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v: %s", err, out)
	}
}

func (w *world) calls(t *testing.T) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(w.dir, "calls"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

// cached lists the files of the cache, locks aside.
func (w *world) cached(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(w.options.CacheDir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(p) == ".lock" || filepath.Ext(p) == ".checked" {
			return err
		}
		rel, err := filepath.Rel(w.options.CacheDir, p)
		files = append(files, rel)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestEnsureInstallsOnceAndFindsItAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var stages []provision.Stage
	w.options.Progress = func(s provision.Stage) { stages = append(stages, s) }
	want := filepath.Join(w.options.CacheDir, "workerd", version, "workerd")
	for range 2 {
		got, err := provision.Ensure(t.Context(), w.options)
		if err != nil || got != want {
			t.Fatalf("Ensure = %q, %v; want %q", got, err, want)
		}
	}
	if diff := cmp.Diff([]string{"pack " + pkgName + "@" + version + " --ignore-scripts --loglevel=error"}, w.calls(t)); diff != "" {
		t.Errorf("npm calls (-want +got):\n%s", diff)
	}
	wantStages := []provision.Stage{
		provision.StageDownloading, provision.StageVerifying, provision.StageExtracting, provision.StageInstalled,
	}
	if diff := cmp.Diff(wantStages, stages); diff != "" {
		t.Errorf("stages (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"workerd/1.2.3/workerd"}, w.cached(t)); diff != "" {
		t.Errorf("cache (-want +got):\n%s", diff)
	}
}

func TestEnsureLeavesNothingWhenTheInstallFails(t *testing.T) {
	t.Parallel()
	other := pack(t, map[string]string{"package/bin/workerd": script("echo evil")})
	tests := map[string]struct {
		npm  func(w *world) string
		code string
		text string
	}{
		"truncated tarball": {
			func(w *world) string { return `head -c 100 "` + w.tarball + `" >x.tgz` },
			"workerd_checksum_mismatch", "registry",
		},
		"wrong content": {
			func(w *world) string {
				write(t, w.tarball+".other", string(other), 0o644)
				return `cp "` + w.tarball + `.other" x.tgz`
			},
			"workerd_checksum_mismatch", integrity(other),
		},
		"killed midway": {
			func(w *world) string { return `head -c 100 "` + w.tarball + "\" >x.tgz\nkill -9 $$" },
			"workerd_install_failed", "killed",
		},
		"registry refuses": {
			func(*world) string { return "echo 'npm error code E404' >&2\nexit 1" },
			"workerd_install_failed", "npm error code E404",
		},
		"nothing delivered": {
			func(*world) string { return "exit 0" },
			"workerd_install_failed", "no package",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.npm(t, tt.npm(w))
			path, err := provision.Ensure(t.Context(), w.options)
			if svc.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.text) {
				t.Fatalf("Ensure = %q, %v; want code %s and %q", path, err, tt.code, tt.text)
			}
			if files := w.cached(t); len(files) != 0 {
				t.Errorf("the cache holds %v", files)
			}
		})
	}
}

func TestEnsureWithoutNPMNamesBothWaysOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.NPM = filepath.Join(w.dir, "no-such-npm")
	_, err := provision.Ensure(t.Context(), w.options)
	if svc.CodeOf(err) != "workerd_npm_missing" {
		t.Fatalf("Ensure: %v", err)
	}
	for _, way := range []string{"install Node.js with npm", "set SVC_WORKERD"} {
		if !strings.Contains(err.Error(), way) {
			t.Errorf("the error does not say %q: %v", way, err)
		}
	}
}

func TestEnsureRefusesAPlatformWithoutAChecksum(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Release.Packages = nil
	_, err := provision.Ensure(t.Context(), w.options)
	if svc.CodeOf(err) != "workerd_platform_unsupported" || !strings.Contains(err.Error(), "SVC_WORKERD") {
		t.Fatalf("Ensure: %v", err)
	}
	if calls := w.calls(t); calls != nil {
		t.Errorf("npm was asked: %v", calls)
	}
}

// TestEnsureWithoutAPinnedChecksum: the registry's checksum is checked, shown and kept,
// and a later install must have the same.
func TestEnsureWithoutAPinnedChecksum(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	platform := runtime.GOOS + "/" + runtime.GOARCH
	good := w.options.Release.Packages[platform].Integrity
	w.options.Release.Packages[platform] = provision.Package{Name: pkgName}
	var stages []string
	w.options.Progress = func(s provision.Stage) { stages = append(stages, string(s)) }
	registry := func(view string) {
		w.npm(t, `case "$1" in view) `+view+` ;; *) cp "`+w.tarball+`" ./x.tgz ;; esac`)
	}
	for name, view := range map[string]string{
		"workerd_checksum_mismatch": `echo '"` + integrity([]byte("other")) + `"'`,
		"workerd_install_failed":    `echo '"sha1-abc"'`,
	} {
		registry(view)
		if _, err := provision.Ensure(t.Context(), w.options); svc.CodeOf(err) != name {
			t.Errorf("%s: %v", view, err)
		}
	}
	registry("exit 1")
	if _, err := provision.Ensure(t.Context(), w.options); svc.CodeOf(err) != "workerd_install_failed" || len(w.cached(t)) != 0 {
		t.Errorf("without an answer: %v, %v", err, w.cached(t))
	}
	stages = nil
	registry(`echo '"` + good + `"'`)
	path, err := provision.Ensure(t.Context(), w.options)
	if err != nil || !strings.Contains(strings.Join(stages, "\n"), "accepting "+pkgName+" with the registry's "+good) {
		t.Fatalf("%v: %q", err, stages)
	}
	record, err := os.ReadFile(filepath.Join(filepath.Dir(path), "package.json"))
	if err != nil || !strings.Contains(string(record), good) {
		t.Errorf("%s %v", record, err)
	}

	other := pack(t, map[string]string{"package/bin/workerd": script("echo '" + versionLine + "'; exit 0")})
	write(t, w.tarball, string(other), 0o644)
	registry(`echo '"` + integrity(other) + `"'`)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := provision.Ensure(t.Context(), w.options); svc.CodeOf(err) != "workerd_checksum_mismatch" || !strings.Contains(err.Error(), "has changed") {
		t.Errorf("a package that changed: %v", err)
	}
}

func TestEnsureReplacesABrokenBinary(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	broken := filepath.Join(w.options.CacheDir, "workerd", version, "workerd")
	write(t, broken, "half a binary", 0o755)
	if _, err := provision.Ensure(t.Context(), w.options); err != nil {
		t.Fatal(err)
	}
}

func TestEnsureSaysThatTheBinaryDoesNotRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	data := pack(t, map[string]string{"package/bin/workerd": script("exit 127")})
	write(t, w.tarball, string(data), 0o644)
	w.options.Release.Packages[runtime.GOOS+"/"+runtime.GOARCH] = provision.Package{Name: pkgName, Integrity: integrity(data)}
	if _, err := provision.Ensure(t.Context(), w.options); svc.CodeOf(err) != "workerd_unusable" {
		t.Fatalf("Ensure: %v", err)
	}
}

func TestEnsureAtOnceInstallsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() { _, errs[i] = provision.Ensure(t.Context(), w.options) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if calls := w.calls(t); len(calls) != 1 {
		t.Errorf("npm was asked %d times", len(calls))
	}
}

func TestExplicit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	good, old, plain := filepath.Join(w.dir, "good"), filepath.Join(w.dir, "old"), filepath.Join(w.dir, "plain")
	write(t, good, script("echo '"+versionLine+"'"), 0o755)
	write(t, old, script("echo 'workerd 2019-01-01'"), 0o755)
	write(t, plain, "text", 0o644)
	tests := map[string]struct{ path, code, text string }{
		"good":           {good, "", ""},
		"missing":        {filepath.Join(w.dir, "nowhere"), "workerd_invalid", "does not exist"},
		"not executable": {plain, "workerd_invalid", "not an executable"},
		"directory":      {w.dir, "workerd_invalid", "not an executable"},
		"other version":  {old, "workerd_wrong_version", "2019-01-01"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := w.options
			o.Explicit = tt.path
			got, err := provision.Ensure(t.Context(), o)
			if svc.CodeOf(err) != tt.code {
				t.Fatalf("Ensure = %q, %v; want code %q", got, err, tt.code)
			}
			if err == nil && got != tt.path {
				t.Errorf("Ensure = %q, want %q", got, tt.path)
			}
			if err != nil && !strings.Contains(err.Error(), tt.text) {
				t.Errorf("the error does not say %q: %v", tt.text, err)
			}
		})
	}
}

// TestPinnedDigests: the package and the program of each Linux have a digest; without that of the program
// any program that prints the right version would be run.
func TestPinnedDigests(t *testing.T) {
	t.Parallel()
	for platform, pkg := range provision.Pinned().Packages {
		if strings.HasPrefix(platform, "linux/") && (pkg.Integrity == "" || pkg.Binary == "") {
			t.Errorf("%s: %+v", platform, pkg)
		}
	}
}

// TestChangedBinary: a program that prints the right version, but is not the one of the package, is not
// run and not used. One that did not change is read once.
func TestChangedBinary(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path, err := provision.Ensure(t.Context(), w.options)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provision.Find(t.Context(), w.options); err != nil {
		t.Fatal(err)
	}
	note := filepath.Join(w.options.CacheDir, "workerd", version+".checked")
	before, err := os.ReadFile(note)
	if err != nil {
		t.Fatal(err)
	}
	ran := filepath.Join(w.dir, "ran")
	write(t, path+".new", script("touch '"+ran+"'; echo '"+versionLine+"'"), 0o755)
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	if _, err := provision.Find(t.Context(), w.options); svc.CodeOf(err) != "workerd_not_installed" {
		t.Errorf("Find: %v", err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the other program was run")
	}
	if got, err := provision.Ensure(t.Context(), w.options); err != nil || got != path || len(w.calls(t)) != 2 {
		t.Errorf("Ensure: %s, %v, %v", got, err, w.calls(t))
	}
	after, err := os.ReadFile(note)
	if err != nil || bytes.Equal(before, after) {
		t.Errorf("the program that was installed again is not noted: %s, %v", after, err)
	}
	w.options.Explicit = filepath.Join(w.dir, "own") // the operator's own is not compared
	write(t, w.options.Explicit, script("# own\necho '"+versionLine+"'"), 0o755)
	if _, err := provision.Find(t.Context(), w.options); err != nil {
		t.Error(err)
	}
}

func TestFindDoesNotInstall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, err := provision.Find(t.Context(), w.options); svc.CodeOf(err) != "workerd_not_installed" {
		t.Fatalf("Find: %v", err)
	}
	want, err := provision.Ensure(t.Context(), w.options)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := provision.Find(t.Context(), w.options); err != nil || got != want {
		t.Fatalf("Find = %q, %v; want %q", got, err, want)
	}
}

// TestKilledInstall kills an installing process while npm works, and expects
// the next install to succeed and to clear away what was left.
func TestKilledInstall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fifo := filepath.Join(w.dir, "started")
	if out, err := exec.CommandContext(t.Context(), "mkfifo", fifo).CombinedOutput(); err != nil {
		t.Fatalf("mkfifo: %v: %s", err, out)
	}
	w.npm(t, `head -c 100 "`+w.tarball+`" >x.tgz; echo $$ >"`+fifo+`"; read forever <"`+fifo+`"`)

	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHelperInstall$")
	child.Env = append(os.Environ(), "PROVISION_HELPER="+w.options.CacheDir+"\n"+w.options.NPM)
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	pid, err := os.ReadFile(fifo) // npm has written half and waits
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // it was killed
	kill := exec.CommandContext(t.Context(), "kill", "-9", strings.TrimSpace(string(pid)))
	if out, err := kill.CombinedOutput(); err != nil {
		t.Fatalf("kill npm: %v: %s", err, out)
	}
	if files := w.cached(t); len(files) != 1 || !strings.Contains(files[0], ".install-") {
		t.Fatalf("after the kill the cache holds %v, want one temporary file", files)
	}

	w.npm(t, `cp "`+w.tarball+`" x.tgz`)
	if _, err := provision.Ensure(t.Context(), w.options); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"workerd/1.2.3/workerd"}, w.cached(t)); diff != "" {
		t.Errorf("cache (-want +got):\n%s", diff)
	}
}

// TestHelperInstall is the process that TestKilledInstall kills; on its own it
// does nothing.
func TestHelperInstall(t *testing.T) {
	cache, npm, ok := strings.Cut(os.Getenv("PROVISION_HELPER"), "\n")
	if !ok {
		return
	}
	_, err := provision.Ensure(t.Context(), provision.Options{CacheDir: cache, NPM: npm, Release: &provision.Release{
		Version: version, VersionLine: versionLine,
		Packages: map[string]provision.Package{runtime.GOOS + "/" + runtime.GOARCH: {Name: pkgName}},
	}})
	t.Fatalf("was not killed: %v", err)
}

func pack(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, content := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func integrity(data []byte) string {
	sum := sha512.Sum512(data)
	return "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
}

func script(body string) string { return fmt.Sprintf("#!/bin/sh\n%s\n", body) }

func write(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}
