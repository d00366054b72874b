package dev

import (
	"crypto/sha256"
	"os"

	"github.com/svcctl/svcctl/internal/client/watch"
)

// The sizes up to which files are compared by their content: one, and all together. Others are compared by
// size and time.
const (
	maxSummed    = 1 << 20
	maxSummedAll = 64 << 20
)

// sum is the content of a file at a stamp.
type sum struct {
	stamp   watch.Stamp
	content [sha256.Size]byte
}

// contents sums up the files of the watched directories. A file whose stamp is that of known is not read.
func (c *commandRun) contents(files map[string]watch.Stamp, known map[string]sum) map[string]sum {
	sums, left := map[string]sum{}, int64(maxSummedAll)
	for path, stamp := range files {
		if stamp.Size > maxSummed || !within(c.dirs, path) {
			continue
		}
		if old, ok := known[path]; ok && old.stamp == stamp {
			sums[path] = old
			continue
		}
		if left -= stamp.Size; left < 0 {
			continue
		}
		if data, err := os.ReadFile(path); err == nil {
			sums[path] = sum{stamp, sha256.Sum256(data)}
		}
	}
	return sums
}

// same reports whether two sums are known and of one content.
func same(a, b sum) bool { return a != (sum{}) && a.content == b.content }
