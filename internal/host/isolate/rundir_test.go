package isolate_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/host/isolate"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestMakeDir: a directory may be passed through and not listed. That of a server that was killed is
// removed by the next one, that of a server that runs is not.
func TestMakeDir(t *testing.T) {
	t.Parallel()
	base := svctest.ShortDir(t)
	kept, remove, err := isolate.MakeDir(base)
	if err != nil {
		t.Fatal(err)
	}
	stale := filepath.Join(base, "v-stale")
	if err := os.MkdirAll(filepath.Join(stale, "sub"), 0o711); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	for _, dir := range []string{kept, stale} {
		if err := os.Chtimes(dir, old, old); err != nil {
			t.Fatal(err)
		}
	}
	other, removeOther, err := isolate.MakeDir(base)
	if err != nil {
		t.Fatal(err)
	}
	for dir, exists := range map[string]bool{kept: true, other: true, stale: false} {
		info, err := os.Stat(dir)
		if (err == nil) != exists || exists && info.Mode().Perm() != 0o711 {
			t.Errorf("%s: %v, %v", dir, info, err)
		}
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
	if err := removeOther(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(base); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
