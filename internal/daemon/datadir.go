package daemon

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"

	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/svc"
)

// dataDir is the directory a daemon owns while it runs.
type dataDir struct {
	path string
	lock *flock.Flock
}

// openDataDir makes the directory and takes its lock.
func openDataDir(path string) (*dataDir, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	lock := flock.New(filepath.Join(path, "lock"), flock.SetPermissions(0o600))
	free, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the data directory %s: %w", path, err)
	}
	if !free {
		return nil, svc.Errorf(svc.Conflict, "data_dir_in_use", "another daemon uses the data directory %s", path).
			WithHint("stop it, or give this one a directory of its own with --data-dir")
	}
	return &dataDir{path, lock}, nil
}

func (d *dataDir) close() error { return d.lock.Unlock() }

func (d *dataDir) sub(name ...string) string {
	return filepath.Join(append([]string{d.path}, name...)...)
}

// secrets are what the daemon made up itself and keeps over restarts.
type secrets struct {
	DeployToken string `json:"deploy_token"`
	AdminToken  string `json:"admin_token"`
	UploadKey   string `json:"upload_key"`
}

// secrets reads or makes the secrets, in a file only its owner can read [D6].
func (d *dataDir) secrets() (secrets, error) {
	var s secrets
	path := d.sub("secrets.json")
	err := readPrivate(path, &s)
	if errors.Is(err, os.ErrNotExist) {
		s = secrets{DeployToken: "deploy-" + rand.Text(), AdminToken: "admin-" + rand.Text(), UploadKey: rand.Text()}
		return s, writePrivate(path, s)
	}
	if err == nil && (s.DeployToken == "" || s.AdminToken == "" || s.UploadKey == "") {
		err = errors.New("a value is missing")
	}
	if err != nil {
		return s, fmt.Errorf("%s cannot be used: %w: restore it, or delete it to make new tokens", path, err)
	}
	return s, nil
}

// writeNote leaves what the CLI of the same user needs to find this daemon.
func (d *dataDir) writeNote(n config.Note) error { return writePrivate(config.NotePath(d.path), n) }

func (d *dataDir) removeNote() error {
	if err := os.Remove(config.NotePath(d.path)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the daemon's note: %w", err)
	}
	return nil
}

func readPrivate(path string, v any) error {
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	return err
}

// writePrivate replaces a 0600 file atomically. It is on the disk when it returns:
// clients may have copied the tokens a moment later.
func writePrivate(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err == nil {
		err = renameio.WriteFile(path, append(data, '\n'), 0o600)
	}
	if err == nil {
		err = syncDir(filepath.Dir(path))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
