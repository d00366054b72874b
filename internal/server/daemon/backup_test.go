package daemon

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/server/upkeep/backup"
)

// TestRestoredForMachines: a restored server has the authority and the token that its machines
// know, and one without machines has neither.
func TestRestoredForMachines(t *testing.T) {
	t.Parallel()
	from := &dataDir{path: t.TempDir()}
	if _, err := from.secrets(); err != nil {
		t.Fatal(err)
	}
	i, err := Identify(&config.Daemon{DataDir: from.path})
	if err != nil || len(i.Files) != 2 {
		t.Fatalf("%d files, %v", len(i.Files), err)
	}
	authority, token, err := joining(from, false)
	if err != nil {
		t.Fatal(err)
	}
	if i, err = Identify(&config.Daemon{DataDir: from.path}); err != nil {
		t.Fatal(err)
	}
	to := &dataDir{path: filepath.Join(t.TempDir(), "restored")}
	if err := Rebuild(&config.Daemon{DataDir: to.path, RegistryDB: to.sub("registry.db")}, &backup.State{Files: i.Files}); err != nil {
		t.Fatal(err)
	}
	same, again, err := joining(to, false)
	if err != nil || again != token || same.Certificate() == nil || string(same.Certificate().Raw) != string(authority.Certificate().Raw) {
		t.Errorf("the restored server is another one for its machines: %v", err)
	}
	for _, name := range []string{authorityFile, tokenFile} {
		if info, err := os.Stat(to.sub(name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}
