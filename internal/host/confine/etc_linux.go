package confine

import (
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// settings is the directory of the server's settings, which may have files with tokens and keys.
const settings = "/etc/svcctl"

// ofEtc are the files of /etc that a program needs, and no passwords and keys.
//
//nolint:gochecknoglobals // a constant table
var ofEtc = []string{
	"/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/gai.conf",
	"/etc/services", "/etc/protocols", "/etc/localtime", "/etc/timezone", "/etc/alternatives",
	"/etc/ca-certificates", "/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/ca-bundle.pem", "/etc/pki/ca-trust", "/etc/pki/tls/certs", "/etc/pki/tls/cert.pem",
}

// readableEtc is what a program may read of /etc: what it needs at its start. A user who can read no
// more there than all users can gets all of it, since files may be replaced while the program runs.
func readableEtc(root bool) []string {
	if root || hasPrivate(settings) {
		return ofEtc
	}
	return []string{"/etc"}
}

// hasPrivate reports whether a directory has a file that this user may read, and not every user.
func hasPrivate(dir string) (found bool) {
	_ = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // this user cannot read it
		}
		info, err := os.Stat(path) // of the file that a link leads to
		if err != nil || !info.Mode().IsRegular() {
			return nil //nolint:nilerr // as above
		}
		if info.Mode().Perm()&0o004 == 0 && unix.Access(path, unix.R_OK) == nil {
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found
}
