package provision

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/svcctl/svcctl/internal/lib/atomicfile"
)

// A program of 160 MB takes a third of a second to read, at each start. So the result is kept in a file
// beside the directory of the cache, and is true until the program changes.
const checkedSuffix = ".checked"

// checked is a program whose digest was right.
type checked struct {
	Path   string `json:"path"`
	Digest string `json:"digest"`
	Inode  uint64 `json:"inode"`
	Size   int64  `json:"size"`
	Time   int64  `json:"time"` // of its last change, in nanoseconds
}

// trust checks that a program is the one of the package, if that is known.
func (in *installer) trust(path string, info fs.FileInfo) error {
	want := in.release.Packages[in.platform].Binary
	if want == "" {
		return nil
	}
	now := checked{Path: path, Digest: want, Size: info.Size(), Time: info.ModTime().UnixNano()}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		now.Inode = stat.Ino
	}
	if in.wasChecked(now) {
		return nil
	}
	got, err := digest(path)
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("%s is not the workerd of this release: it is %s, not %s", path, got, want)
	}
	if text, err := json.Marshal(now); err == nil {
		_ = atomicfile.WriteFile(in.dir+checkedSuffix, text, 0o644) // else the next start reads the program again
	}
	return nil
}

func (in *installer) wasChecked(now checked) bool {
	var before checked
	text, err := os.ReadFile(in.dir + checkedSuffix)
	return err == nil && json.Unmarshal(text, &before) == nil && before == now
}
