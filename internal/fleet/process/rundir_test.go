package process

import (
	"encoding/base64"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRunDir: the name of a run directory cannot be guessed, leaves room for the longest name of a
// socket, and is one that Clear removes.
func TestRunDir(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	seen := map[string]bool{}
	for range 100 {
		dir, err := MakeRunDir(parent)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(dir)
		if bits, err := base64.RawURLEncoding.DecodeString(name); err != nil || len(bits) < 12 || seen[name] {
			t.Errorf("%q: %d bytes, %v, seen %t", name, len(bits), err, seen[name])
		}
		seen[name] = true
		if n := len(filepath.Join(strings.Repeat("x", maxRunDir), name, "hyperdrive-99.sock")); n > 103 {
			t.Errorf("the path of a socket has %d bytes", n)
		}
	}
	if err := (Config{Logger: slog.New(slog.DiscardHandler), RunDir: parent}).Clear(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
