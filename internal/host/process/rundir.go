package process

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"
)

// MakeRunDir creates a new directory for sockets, with a random name so that no files
// of an earlier process are in it. Config.Clear removes it.
func MakeRunDir(parent string) (string, error) {
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", err
	}
	var id [4]byte
	_, _ = rand.Read(id[:]) // never fails
	dir := filepath.Join(parent, hex.EncodeToString(id[:]))
	return dir, os.Mkdir(dir, 0o700)
}
