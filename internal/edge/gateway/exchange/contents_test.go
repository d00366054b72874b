package exchange

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// The files in memory have a limit; those that were sent longest ago leave first.
func TestContents(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, maxContent), 0o600); err != nil {
		t.Fatal(err)
	}
	var c contents
	key := func(i int) contentKey { return contentKey{"shop", strconv.Itoa(i), maxContent} }
	const number = 2 * maxContents / maxContent
	for i := range number {
		if _, err := c.read(key(i), path); err != nil {
			t.Fatal(err)
		}
		if c.get(key(0)) == nil {
			t.Fatalf("after %d files: the one that is used most often is gone", i+1)
		}
	}
	if c.size > maxContents || c.size < maxContents-2*maxContent || c.order.Len() != len(c.byKey) {
		t.Errorf("%d bytes, %d files, %d in order", c.size, len(c.byKey), c.order.Len())
	}
	if c.get(key(1)) != nil || c.get(key(number-1)) == nil {
		t.Error("the wrong files are in memory")
	}
	for _, size := range []int64{maxContent - 1, maxContent + 1} {
		other := contentKey{"shop", "other", size}
		if _, err := c.read(other, path); err == nil || c.get(other) != nil {
			t.Errorf("a file of %d bytes with the size %d: %v", maxContent, size, err)
		}
	}
}
