package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/svc"
)

func TestOneOwner(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	first, err := openDataDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := openDataDir(dir); svc.CodeOf(err) != "data_dir_in_use" || !strings.Contains(err.Error(), dir) {
		t.Errorf("a second owner: %v", err)
	}
	if err := first.close(); err != nil {
		t.Fatal(err)
	}
	second, err := openDataDir(dir)
	if err != nil {
		t.Fatalf("after the first has gone: %v", err)
	}
	if err := second.close(); err != nil {
		t.Error(err)
	}
}

func TestSecretsAreKeptAndPrivate(t *testing.T) {
	t.Parallel()
	d := &dataDir{path: t.TempDir()}
	made, err := d.secrets()
	if err != nil || made.DeployToken == made.AdminToken {
		t.Fatalf("%+v, %v", made, err)
	}
	again, err := d.secrets()
	if err != nil || again != made {
		t.Errorf("the secrets changed: %v", err)
	}
	if err := d.writeNote(config.Note{AdminToken: "x"}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{d.sub("secrets.json"), config.NotePath(d.path)} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	if err := os.WriteFile(d.sub("secrets.json"), []byte(`{"deploy_token":"x"`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := d.secrets(); err == nil || !strings.Contains(err.Error(), "secrets.json") || strings.Contains(err.Error(), made.AdminToken) {
		t.Errorf("a damaged file: %v", err)
	}
	for range 2 {
		if err := d.removeNote(); err != nil {
			t.Error(err)
		}
	}
}

func TestRunDirIsShort(t *testing.T) {
	t.Parallel()
	for name, depth := range map[string]int{"shallow": 0, "deep": 120} {
		temporary := t.TempDir()
		d := &dataDir{path: filepath.Join(t.TempDir(), strings.Repeat("d", depth))}
		if err := os.MkdirAll(d.path, 0o700); err != nil {
			t.Fatal(err)
		}
		killed, _, err := d.runDir(temporary) // and not removed
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := os.WriteFile(filepath.Join(killed, "a.sock"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		dir, remove, err := d.runDir(temporary)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
		if left, err := filepath.Glob(filepath.Join(killed, "*")); err != nil || len(left) > 0 {
			t.Errorf("%s: of a daemon that was killed there is %v, %v", name, left, err)
		}
		if socket := filepath.Join(dir, "v", "0123456789abcdef", "loopback.sock"); len(socket) > 107 {
			t.Errorf("%s: the socket path %s has %d bytes", name, socket, len(socket))
		}
		if err := remove(); err != nil {
			t.Error(err)
		}
		for _, path := range []string{dir, killed, d.sub("run")} {
			if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: %s is left: %v", name, path, err)
			}
		}
	}
}
