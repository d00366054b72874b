package process

import (
	"crypto/rand"
	"encoding/base64"
	"os"
	"path/filepath"
)

// MakeRunDir creates a new directory for sockets. Its name has 96 random bits: a program that breaks
// out of the workerd of one version cannot guess where the sockets of another one are. Config.Clear
// removes it.
func MakeRunDir(parent string) (string, error) {
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", err
	}
	var id [12]byte
	_, _ = rand.Read(id[:]) // never fails
	dir := filepath.Join(parent, base64.RawURLEncoding.EncodeToString(id[:]))
	return dir, os.Mkdir(dir, 0o700)
}
