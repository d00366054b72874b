//go:build e2e && release

package e2e

import (
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// firstVersion is the version from which on upgrades are possible. As long as no tag exists, the commit that
// first says it stands for the last release.
const firstVersion = "v0.1.0"

var releaseFrom = flag.String("release.from", "", "commit that TestUpgradeFromRelease upgrades from; empty = the last tag, or the first commit of "+firstVersion)

// TestUpgradeFromRelease: the program takes over the data of the last release; that one refuses what has
// become newer, and continues with the copy of the registry from before the upgrade.
func TestUpgradeFromRelease(t *testing.T) {
	t.Parallel()
	const dir = "../../../examples/guestbook"
	old := lastRelease(t)
	d := newDaemon(t)
	d.with(old)
	one := d.deploy(dir, "--version", "v1")
	d.sign(one.PreviewURL, "ada", http.StatusCreated)
	two := d.deploy(dir, "--version", "v2", "--parent", "v1")
	d.sign(two.PreviewURL, "bob", http.StatusCreated)
	d.ok(dir, "promote", "v2", "--leave-writes")
	before := d.schema()

	d.with(svcctl)
	d.signed(one.PreviewURL, "ada")
	d.signed(two.PreviewURL, "bob", "ada")
	d.expectProduction(one.ProdURL, "v2")
	d.sign(two.PreviewURL, "cleo", http.StatusCreated)
	three := d.deploy(dir, "--version", "v3", "--parent", "v2")
	d.signed(three.PreviewURL, "cleo", "bob", "ada")
	after := d.schema()
	t.Logf("schema of the registry: %d, then %d", before, after)

	if after != before {
		d.bin = old
		if d.start() {
			t.Fatal("the old release serves a newer registry")
		}
		if out := d.log.String(); !strings.Contains(out, fmt.Sprint("schema version ", after)) {
			t.Errorf("the refusal does not name the schema:\n%s", out)
		}
		d.bringBack(before)
	}
	d.with(old)
	d.signed(one.PreviewURL, "ada")
	d.signed(two.PreviewURL, "cleo", "bob", "ada")
	if after == before {
		d.signed(three.PreviewURL, "cleo", "bob", "ada")
	}
	d.schema()

	d.with(svcctl)
	d.signed(two.PreviewURL, "cleo", "bob", "ada")
	d.verified(dir, after != before)
}

// verified checks that verify finds nothing, but after the way back the version that was made since:
// the registry from before does not know it.
func (d *daemon) verified(dir string, wentBack bool) {
	d.t.Helper()
	out, errs, code := d.run(dir, "admin", "verify", "-o", "json")
	var found struct {
		Problems []struct {
			Name string `json:"name"`
		} `json:"problems"`
	}
	if err := json.Unmarshal([]byte(out), &found); err != nil {
		d.t.Fatalf("verify printed %q: %v %s", out, err, errs)
	}
	for _, p := range found.Problems {
		if !wentBack || !strings.HasSuffix(p.Name, "guestbook/v3") {
			d.t.Errorf("verify: exit %d\n%s", code, out)
		}
	}
	if wentBack && len(found.Problems) == 0 {
		d.t.Error("verify does not find the version that the registry from before does not know")
	}
}

// lastRelease builds the last release, and returns its program.
func lastRelease(t *testing.T) string {
	t.Helper()
	commit := *releaseFrom
	if commit == "" {
		commit = firstLine(t, "describe", "--tags", "--abbrev=0", "--match=v*")
	}
	if commit == "" {
		commit = firstLine(t, "log", "--reverse", "--format=%H", `-S"`+firstVersion+`"`, "--", ":/internal/lib/buildinfo/build.go")
	}
	if commit == "" {
		t.Fatalf("the history has no tag and no commit that says %s; fetch it whole, or name a commit with -release.from", firstVersion)
	}
	t.Logf("the last release is %s", commit)
	dir := t.TempDir()
	out, err := exec.CommandContext(t.Context(), "bash", "-c", `set -euo pipefail
		git -C ../../.. archive "$1" | tar -x -C "$2"
		cd "$2" && CGO_ENABLED=0 go build -trimpath -o release ./cmd/svcctl`, "bash", commit, dir).CombinedOutput()
	if err != nil {
		t.Fatalf("building %s: %v\n%s", commit, err, out)
	}
	return filepath.Join(dir, "release")
}

// firstLine is the first line that git prints, "" if it fails.
func firstLine(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", args...).Output()
	if err != nil {
		t.Logf("git %s: %v", strings.Join(args, " "), err)
		return ""
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line
}

// with starts a program on the data.
func (d *daemon) with(program string) {
	d.t.Helper()
	d.bin, d.cli = program, program
	if !d.start() {
		d.t.Fatalf("%s ended:\n%s", program, d.log.String())
	}
}

// schema stops the server and returns the schema of its registry.
func (d *daemon) schema() uint32 {
	d.t.Helper()
	if code := d.stop(); code != 0 {
		d.t.Errorf("the server ended with %d", code)
	}
	head := make([]byte, 64)
	f, err := os.Open(filepath.Join(d.dataDir(), "registry.db"))
	if err == nil {
		defer f.Close()
		_, err = f.ReadAt(head, 0)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return binary.BigEndian.Uint32(head[60:]) // user_version in the format of SQLite
}

// signed waits until a version serves, and checks who signed its book, newest first.
func (d *daemon) signed(url string, names ...string) {
	d.t.Helper()
	var got []string
	for _, e := range d.guestbook(url).Entries {
		got = append(got, e.Name)
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		d.t.Errorf("%s: signed by %q, want %q", url, got, names)
	}
}

// bringBack does what the guide says about a way back: it restores the registry's copy.
func (d *daemon) bringBack(schema uint32) {
	d.t.Helper()
	db := filepath.Join(d.dataDir(), "registry.db")
	if err := os.Rename(fmt.Sprint(db, ".schema-", schema), db); err != nil {
		d.t.Fatal(err)
	}
	for _, more := range []string{"-wal", "-shm"} {
		if err := os.RemoveAll(db + more); err != nil {
			d.t.Fatal(err)
		}
	}
}
