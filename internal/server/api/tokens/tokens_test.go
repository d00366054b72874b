package tokens_test

import (
	"crypto/sha256"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/server/api/tokens"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

const one = "tokens:\n  - {name: ci, role: deploy, token: a-token-of-the-test}\n"

func write(t *testing.T, path, text string) {
	t.Helper()
	next := path + ".next" // replaced by rename: another file, whatever its time
	if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, path); err != nil {
		t.Fatal(err)
	}
}

// rig is a file of tokens with a log.
type rig struct {
	*tokens.File
	t    *testing.T
	path string
	log  *svctest.Buffer
}

func open(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, path: filepath.Join(t.TempDir(), "tokens.yaml"), log: new(svctest.Buffer)}
	write(t, r.path, one)
	f, err := tokens.Open(r.path, slog.New(slog.NewTextHandler(r.log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	r.File = f
	return r
}

// expect checks the names of the tokens, after a second.
func (r *rig) expect(names ...string) {
	r.t.Helper()
	<-time.After(time.Second)
	var got []string
	for _, k := range r.Tokens() {
		got = append(got, k.Name)
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		r.t.Errorf("the tokens are %v, want %v", got, names)
	}
}

// TestRotation: a changed file is read again, and an invalid one changes nothing at first.
func TestRotation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		f.expect("ci")
		if k := f.Tokens()[0]; k.Role != svc.RoleDeploy || k.Hash != sha256.Sum256([]byte("a-token-of-the-test")) {
			t.Errorf("%+v", k)
		}
		write(t, f.path, one+"  - {name: board, role: read, sha256: "+strings.Repeat("ab", 32)+", expires: 2030-01-02T03:04:05Z}\n")
		f.expect("ci", "board")
		write(t, f.path, "tokens: [{name: ci, role: hush}]")
		f.expect("ci", "board")
		f.expect("ci", "board")
		if n := strings.Count(f.log.String(), "level=ERROR"); n != 1 {
			t.Errorf("%d errors in %s", n, f.log)
		}
		if k := f.Trouble(); k == nil || k.File != f.path || k.Valid != 2 || !strings.Contains(k.Detail, "role") {
			t.Errorf("%+v", k)
		}
		write(t, f.path, one)
		f.expect("ci")
		if k := f.Trouble(); k != nil {
			t.Errorf("%+v", k)
		}
	})
}

// TestBrokenFile: the tokens before a broken change end after ten minutes, and the log says each
// minute that they will.
func TestBrokenFile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		write(t, f.path, "tokens: [")
		for range 9 {
			f.expect("ci")
			<-time.After(time.Minute - time.Second)
		}
		if n := strings.Count(f.log.String(), "level=ERROR"); n != 9 {
			t.Errorf("%d errors in %s", n, f.log)
		}
		<-time.After(time.Minute)
		f.expect()
		if k := f.Trouble(); k == nil || k.Valid != 0 {
			t.Errorf("%+v", k)
		}
		write(t, f.path, one)
		f.expect("ci")
	})
}

// TestDeletedFile: a file that is deleted has no tokens.
func TestDeletedFile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		f.expect("ci")
		if err := os.Remove(f.path); err != nil {
			t.Fatal(err)
		}
		f.expect()
		f.expect()
		if k := f.Trouble(); k == nil || strings.Count(f.log.String(), "level=ERROR") != 1 {
			t.Errorf("%+v, %s", k, f.log)
		}
		write(t, f.path, one)
		f.expect("ci")
	})
}

func TestInvalidFiles(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"syntax": "tokens: [hunter2-hunter2", "field": "tokens: [{name: a, role: read, token: hunter2-hunter2, more: 1}]",
		"role": "tokens: [{name: a, role: root, token: hunter2-hunter2}]", "name": "tokens: [{role: read, token: hunter2-hunter2}]",
		"neither": "tokens: [{name: a, role: read}]", "short": "tokens: [{name: a, role: read, token: hunter2}]",
		"hash":  "tokens: [{name: a, role: read, sha256: hunter2}]",
		"twice": "tokens: [{name: a, role: read, token: hunter2-hunter2-x}, {name: b, role: admin, token: hunter2-hunter2-x}]",
	} {
		path := filepath.Join(t.TempDir(), "tokens.yaml")
		write(t, path, text)
		if _, err := tokens.Open(path, slog.New(slog.DiscardHandler)); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := tokens.Open("/nowhere/tokens.yaml", slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a file that does not exist")
	}
}
