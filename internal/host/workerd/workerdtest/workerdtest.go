package workerdtest

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/host/provision"
)

// installTimeout bounds a first install, which downloads 47 MB.
const installTimeout = 5 * time.Minute

// Binary is the path of the pinned workerd: SVC_WORKERD, the user's cache, or a
// fresh install into that cache. The test fails when there is no way to get it.
func Binary(tb testing.TB) string {
	tb.Helper()
	path, err := binary()
	if err != nil {
		tb.Fatalf("this test needs workerd: %v", err)
	}
	return path
}

//nolint:gochecknoglobals // one look-up for all tests of a package
var binary = sync.OnceValues(func() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	//nolint:forbidigo // outlives the test that happens to ask first
	ctx, cancel := context.WithTimeout(context.Background(), installTimeout)
	defer cancel()
	return provision.Ensure(ctx, provision.Options{
		Explicit: os.Getenv("SVC_WORKERD"), //nolint:forbidigo // tests read it as internal/config does
		CacheDir: filepath.Join(cache, "svcctl"),
	})
})
