package dev

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
)

// A session notices that the machine went down during the one before, and only then
// drops what it cannot trust.
func TestCutOff(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		owner string // what the session before left
		cut   bool
	}{
		"ended":  {"", false},
		"killed": {"this boot", false},
		"cut":    {`{"pid":1,"boot":"another boot"}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			f, err := openFolder(root)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := openFolder(root); svc.CodeOf(err) != svc.CodeDevRunning {
				t.Errorf("a second session: %v", err)
			}
			cache := filepath.Join(root, Dir, "data/cache/site")
			if err := os.MkdirAll(cache, 0o700); err != nil {
				t.Fatal(err)
			}
			switch c.owner {
			case "":
			case "this boot":
				err = f.own("http://localhost:1")
			default:
				err = os.WriteFile(f.ownerFile(), []byte(c.owner), 0o600)
			}
			if err != nil || f.lock.Unlock() != nil {
				t.Fatal(err)
			}
			next, err := openFolder(root)
			if err != nil {
				t.Fatal(err)
			}
			defer next.close()
			if _, err := os.Stat(cache); next.cut != c.cut || (err != nil) != c.cut {
				t.Errorf("cut %t, cache: %v", next.cut, err)
			}
		})
	}
}

// The saves that exchanged their data keep each other's bundle until both are gone.
func TestNames(t *testing.T) {
	t.Parallel()
	s := state{Saves: []Save{{N: 1, Version: "s1", Data: "s2"}, {N: 2, Version: "s2", Data: "s1"}}}
	if !s.names("s1") || !s.names("s2") || s.names("s3") {
		t.Error("wrong")
	}
	s.Saves = s.Saves[1:]
	if !s.names("s1") || s.Saves[0].data() != "s1" {
		t.Error("the data of save 2 was forgotten")
	}
}
