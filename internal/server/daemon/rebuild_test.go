package daemon

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/server/upkeep/backup"
)

// TestRebuildKeepsTheOwner: what root restores belongs to the user of the directory, whose
// server has to read it. Only root can give a directory away; for others the owner is the same.
func TestRebuildKeepsTheOwner(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if os.Geteuid() == 0 {
		if err := os.Chown(dir, 12345, 12346); err != nil {
			t.Fatal(err)
		}
	}
	state := &backup.State{Database: []byte("registry"), Files: map[string][]byte{"secrets.json": []byte("{}"), "host.json": []byte("{}")}}
	if err := Rebuild(&config.Daemon{DataDir: dir, RegistryDB: filepath.Join(dir, "registry.db")}, state); err != nil {
		t.Fatal(err)
	}
	want := ownerOf(t, dir)
	for _, name := range []string{"registry.db", "secrets.json", "host.json", "lock"} {
		if got := ownerOf(t, filepath.Join(dir, name)); got != want {
			t.Errorf("%s belongs to %v, the directory to %v", name, got, want)
		}
	}
}

func ownerOf(t *testing.T, path string) [2]uint32 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		t.Fatalf("%T has no owner", info.Sys())
	}
	return [2]uint32{s.Uid, s.Gid}
}
