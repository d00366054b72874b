package dev

import (
	"io"
	"os"
	"path/filepath"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

// The bundles of the saves are where a server looks for them: bundle.Keys
// below ARTIFACTS_DIR. The server of the session reads them there.

// BundlesDir is the directory of the bundles in Place.Dir.
const BundlesDir = "bundles"

// bundles is the directory of the bundles of the project.
func (w *worker) bundles() string { return filepath.Join(w.folder.path, BundlesDir, w.project) }

// bundle is the file of a version's bundle.
func (w *worker) bundle(version string) string {
	return filepath.Join(w.folder.path, BundlesDir, filepath.FromSlash(bundle.Keys(svc.Ref{Project: w.project, Version: version})[0]))
}

// place makes a file the bundle of a version. The error is fs.ErrExist if the version has
// one.
func (w *worker) place(file, version string) error {
	to := w.bundle(version)
	if err := os.Mkdir(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return os.Rename(file, to)
}

// takeBack is the inverse of place. It leaves alone what place did not move.
func (w *worker) takeBack(file, version string) {
	if _, err := os.Lstat(file); err == nil {
		return
	}
	_ = os.Rename(w.bundle(version), file) // without the file, the save cannot be tried again
	_ = os.Remove(filepath.Dir(w.bundle(version)))
}

// drop deletes the bundle of a version. At worst it stays.
func (w *worker) drop(version string) { _ = os.RemoveAll(filepath.Dir(w.bundle(version))) }

// copyFile copies a file into a directory, and returns the path of the copy.
func copyFile(path, dir string) (string, error) {
	from, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer from.Close()
	to, err := os.CreateTemp(dir, "bundle-")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(to, from)
	if closeErr := to.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = os.Remove(to.Name()) // the error of the copy matters
		return "", err
	}
	return to.Name(), nil
}
