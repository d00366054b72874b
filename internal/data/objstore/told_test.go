package objstore_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
)

// full is a bucket on a disk that is full until a time.
type full struct {
	memstore.Bucket
	until time.Time
}

func (f *full) Put(ctx context.Context, key string, body io.Reader, size int64, cond objstore.Condition) (objstore.Info, error) {
	if time.Now().Before(f.until) {
		return objstore.Info{}, fmt.Errorf("put %s: %w", key, syscall.ENOSPC)
	}
	return f.Bucket.Put(ctx, key, body, size, cond)
}

// A writer that waits for a store says what it waits for, not too often, and not of a short fault.
func TestTold(t *testing.T) {
	t.Parallel()
	for wait, lines := range map[time.Duration]int{2 * time.Second: 0, 20 * time.Second: 1, 90 * time.Second: 3} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			b := objstore.Told(&full{until: time.Now().Add(wait)}, slog.New(slog.NewTextHandler(&log, nil)))
			if _, err := objstore.SettleBytes(t.Context(), b, "k", []byte("x"), objstore.Condition{IfAbsent: true}); err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(log.String(), "no space left on device"); n != lines {
				t.Errorf("%d lines in %s, want %d:\n%s", n, wait, lines, log.String())
			}
		})
	}
}
