package control

import (
	"os"
	"path/filepath"
)

// HostLog is the name of a host's own log in the log directory of its version.
const HostLog = "host.log"

const maxHostLog = 1 << 20 // bytes; a larger file is truncated

// OpenLog opens the file in dir for the output of a host, including panics.
func OpenLog(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, HostLog)
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if info, err := os.Stat(path); err == nil && info.Size() > maxHostLog {
		flags |= os.O_TRUNC
	}
	return os.OpenFile(path, flags, 0o600)
}
