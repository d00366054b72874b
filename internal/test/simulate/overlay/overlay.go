package overlay

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// change replaces a text that a file of Go's standard library must have exactly once.
type change struct{ old, new string }

// patch is what changes in one file of the standard library.
type patch struct {
	file    string // below GOROOT/src
	changes []change
}

// Write writes the changed files and overlay.json, the value of go build's flag -overlay, to dir, and
// returns the path of overlay.json. more are further files that it replaces, by their absolute paths. It returns an error that names the file and the text if the
// installed version of Go has another text where a change belongs.
func Write(ctx context.Context, dir string, more map[string]string) (path string, err error) {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("find the installation of Go: %w", err)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // files of the build, as in bin
		return "", err
	}
	replace := maps.Clone(more)
	if replace == nil {
		replace = map[string]string{}
	}
	for _, p := range patches() {
		original := filepath.Join(strings.TrimSpace(string(root)), "src", filepath.FromSlash(p.file))
		changed := filepath.Join(dir, strings.ReplaceAll(p.file, "/", "_"))
		if err := p.write(original, changed); err != nil {
			return "", err
		}
		replace[original] = changed
	}
	data, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "  ")
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, data, 0o600)
}

func (p patch) write(original, changed string) error {
	data, err := os.ReadFile(original)
	if err != nil {
		return err
	}
	text, err := p.apply(string(data))
	if err != nil {
		return err
	}
	return os.WriteFile(changed, []byte(text), 0o600) //nolint:gosec // a file of the installed Go
}

// apply returns the changed text of the file.
func (p patch) apply(text string) (string, error) {
	for _, c := range p.changes {
		if n := strings.Count(text, c.old); n != 1 {
			return "", fmt.Errorf("overlay of %s: the text %q occurs %d times in this version of Go, want once; "+
				"compare the file with the one of the version in go.mod and adapt internal/test/simulate/overlay/patches.go", p.file, c.old, n)
		}
		text = strings.Replace(text, c.old, c.new, 1)
	}
	return text, nil
}
