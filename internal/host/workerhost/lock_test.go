package workerhost

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// TestLockDir: the second owner of a directory waits for the first one.
func TestLockDir(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	first, err := lockDir(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*lockEvery)
	defer cancel()
	if _, err := lockDir(ctx, dir); svc.CodeOf(err) != svc.CodeDataInUse {
		t.Errorf("a second owner gets %v", err)
	}
	time.AfterFunc(3*lockEvery, func() {
		if err := first.Close(); err != nil {
			t.Error(err)
		}
	})
	second, err := lockDir(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
}
