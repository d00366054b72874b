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

	"github.com/svcctl/svcctl/internal/server/tokens"
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

// TestRotation: a changed file is read again, and an invalid one changes nothing.
func TestRotation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		path, log := filepath.Join(t.TempDir(), "tokens.yaml"), new(svctest.Buffer)
		write(t, path, one)
		f, err := tokens.Open(path, slog.New(slog.NewTextHandler(log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		expect := func(names ...string) {
			t.Helper()
			<-time.After(time.Second)
			var got []string
			for _, k := range f.Tokens() {
				got = append(got, k.Name)
			}
			if strings.Join(got, " ") != strings.Join(names, " ") {
				t.Errorf("the tokens are %v, want %v", got, names)
			}
		}
		expect("ci")
		if k := f.Tokens()[0]; k.Role != svc.RoleDeploy || k.Hash != sha256.Sum256([]byte("a-token-of-the-test")) {
			t.Errorf("%+v", k)
		}
		write(t, path, one+"  - {name: board, role: read, sha256: "+strings.Repeat("ab", 32)+", expires: 2030-01-02T03:04:05Z}\n")
		expect("ci", "board")
		write(t, path, "tokens: [{name: ci, role: hush}]")
		expect("ci", "board")
		expect("ci", "board")
		if n := strings.Count(log.String(), "level=ERROR"); n != 1 {
			t.Errorf("%d errors in %s", n, log)
		}
		write(t, path, one)
		expect("ci")
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
