package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Kept are static files of earlier versions that a version serves beside its own, so that pages
// that were loaded before a release find what they load later.
type Kept struct {
	Files []KeptFile `json:"files"`
}

// KeptFile is one of them. Releases counts those since the file was of a version's own bundle.
type KeptFile struct {
	File
	Releases int `json:"releases"`
}

// The names in the directory of an unpacked bundle.
const (
	keptFile = "kept.json"
	keptDir  = "kept"
)

// Keeps is for how many releases the version keeps static files of those before it.
func (m Manifest) Keeps() int {
	if m.Assets == nil || m.Release == nil || m.Release.AssetsKeep == nil {
		return 0
	}
	return *m.Release.AssetsKeep
}

// Keep returns the files that a release of next keeps of the version before, which has kept some
// itself: those whose names carry a hash of their content, and which next does not have.
func Keep(next, before Manifest, earlier Kept) (kept Kept) {
	taken := map[string]bool{}
	for _, f := range next.assetFiles() {
		taken[f.Path] = true
	}
	add := func(f File, releases int) {
		if !taken[f.Path] && releases <= next.Keeps() && HasContentHash(AssetName(f.Path)) {
			taken[f.Path] = true
			kept.Files = append(kept.Files, KeptFile{f, releases})
		}
	}
	for _, f := range before.assetFiles() {
		add(f, 1)
	}
	for _, f := range earlier.Files {
		add(f.File, f.Releases+1)
	}
	return kept
}

func (m Manifest) assetFiles() []File {
	if m.Assets == nil {
		return nil
	}
	return m.Assets.Files
}

// List returns the files.
func (k Kept) List() []File {
	files := make([]File, len(k.Files))
	for i, f := range k.Files {
		files[i] = f.File
	}
	return files
}

// KeptPath is where a kept file is on disk. It is apart from the files of the bundle, which may
// have a directory of that name.
func KeptPath(dir string, f File) string {
	return filepath.Join(dir, keptDir, filepath.FromSlash(AssetName(f.Path)))
}

// WriteKept writes the list into the directory of an unpacked bundle.
func WriteKept(dir string, k Kept) error {
	data, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, keptFile), data, diskMode)
}

// LoadKept reads the list of an unpacked bundle, which most do not have.
func LoadKept(dir string) (k Kept, err error) {
	data, err := os.ReadFile(filepath.Join(dir, keptFile))
	if errors.Is(err, fs.ErrNotExist) {
		return k, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &k)
	}
	if err != nil {
		return k, fmt.Errorf("reading the kept static files: %w", err)
	}
	return k, nil
}
