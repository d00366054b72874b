package dev

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"

	"github.com/svcctl/svcctl/internal/lib/atomicfile"
	"github.com/svcctl/svcctl/internal/lib/boot"
	"github.com/svcctl/svcctl/internal/svc"
)

// Dir is the directory of watch mode in a worker directory.
const Dir = ".svcctl"

// kept is how many saves are kept to go back to.
const kept = 20

// Save is one version that watch mode made.
type Save struct {
	N       int       `json:"n"` // counts up
	Version string    `json:"version"`
	Parent  string    `json:"parent,omitempty"`
	Digest  string    `json:"digest"` // of the bundle
	At      time.Time `json:"at"`
	Changed []string  `json:"changed,omitempty"` // files, relative to the worker directory

	// Data is the version with the data at the end of the save, or with today's if the save
	// serves; "" for Version. See files.go.
	Data string `json:"data,omitempty"`
}

// data is the version with the data of the save.
func (s Save) data() string { return cmp.Or(s.Data, s.Version) }

// state is what the next session of a project has to know.
type state struct {
	path string

	Name  string `json:"name"`  // of this directory on a shared server
	Last  int    `json:"last"`  // highest N
	Saves []Save `json:"saves"` // oldest first; the last one serves
}

// folder is the directory of watch mode, which one session uses at a time.
type folder struct {
	path string
	lock *flock.Flock
	cut  bool // the machine went down during the session before
}

// owner is the content of the lock file, for the message of a second session.
type owner struct {
	PID     int    `json:"pid"`
	Address string `json:"address"`
	Boot    string `json:"boot"` // of the machine
}

// openFolder creates and locks the directory of watch mode in root. Git ignores it.
func openFolder(root string) (*folder, error) {
	f := &folder{path: filepath.Join(root, Dir)}
	if err := os.MkdirAll(f.path, 0o700); err != nil {
		return nil, fmt.Errorf("creating the directory of watch mode: %w", err)
	}
	if err := os.WriteFile(filepath.Join(f.path, ".gitignore"), []byte("*\n"), 0o600); err != nil {
		return nil, fmt.Errorf("creating the directory of watch mode: %w", err)
	}
	f.lock = flock.New(filepath.Join(f.path, "dev.lock"), flock.SetPermissions(0o600))
	free, err := f.lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("locking %s: %w", f.path, err)
	}
	if !free {
		return nil, f.inUse(root)
	}
	return f, f.cutOff()
}

// cutOff deletes what the session before may have left in pieces if the machine went down
// during it: the server of a session does not wait for the disk.
func (f *folder) cutOff() error {
	var o owner
	data, err := os.ReadFile(f.ownerFile())
	if err != nil || json.Unmarshal(data, &o) != nil {
		return nil //nolint:nilerr // it has ended as it should
	}
	now, err := boot.ID()
	if f.cut = err == nil && now != o.Boot; !f.cut {
		return nil
	}
	return os.RemoveAll(filepath.Join(f.path, "data", "cache"))
}

func (f *folder) inUse(root string) error {
	var o owner
	e := svc.Errorf(svc.Conflict, svc.CodeDevRunning, "svcctl dev already runs in %s", root)
	if data, err := os.ReadFile(f.ownerFile()); err == nil && json.Unmarshal(data, &o) == nil {
		return e.WithHint("it is process %d, at %s; stop it with Ctrl-C first", o.PID, o.Address)
	}
	return e.WithHint("stop it with Ctrl-C first")
}

func (f *folder) ownerFile() string { return filepath.Join(f.path, "dev.json") }

// own writes who uses the directory.
func (f *folder) own(address string) error {
	id, _ := boot.ID() // a system that does not say may lose the last saves
	data, err := json.Marshal(owner{os.Getpid(), address, id})
	if err == nil {
		err = renameio.WriteFile(f.ownerFile(), data, 0o600)
	}
	return err
}

func (f *folder) close() error {
	return errors.Join(ignoreMissing(os.Remove(f.ownerFile())), f.lock.Unlock())
}

// state reads the saves of a project on a server; "" is the one of watch mode itself.
func (f *folder) state(project, server string) (*state, error) {
	if server != "" {
		project += "@" + server
	}
	s := &state{path: filepath.Join(f.path, "saves-"+project+".json"), Name: strings.ToLower(rand.Text()[:5])}
	data, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(data, s)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the list of saves: %w: delete %s to begin a new one", err, s.path)
	}
	return s, nil
}

// current is the save that serves; nil before the first.
func (s *state) current() *Save {
	if len(s.Saves) == 0 {
		return nil
	}
	return &s.Saves[len(s.Saves)-1]
}

// names reports whether a save has the version, or its data.
func (s *state) names(version string) bool {
	return slices.ContainsFunc(s.Saves, func(save Save) bool { return save.Version == version || save.Data == version })
}

// add appends a save and returns those that are no longer kept.
func (s *state) add(save Save) (gone []Save, err error) {
	s.Saves = append(s.Saves, save)
	if n := len(s.Saves) - kept; n > 0 {
		gone = slices.Clone(s.Saves[:n])
		s.Saves = slices.Delete(s.Saves, 0, n)
	}
	return gone, s.write()
}

// write replaces the file. Without an fsync: after a power failure the versions
// themselves are on the server.
func (s *state) write() error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err == nil {
		err = atomicfile.Replace(s.path, data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("writing the list of saves: %w", err)
	}
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
