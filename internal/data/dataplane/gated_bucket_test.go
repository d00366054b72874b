package dataplane_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/replica"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/svc"
)

// gatedBucket is a bucket that counts requests and that a test can block.
type gatedBucket struct {
	objstore.Bucket
	latency time.Duration // of a transaction; set before use

	requests, appends, bytes atomic.Int64 // of any kind; transactions, and their bytes

	mu   sync.Mutex
	away bool          // every request fails
	shut chan struct{} // transactions wait until it is closed
}

var errAway = errors.New("the object store is down")

// setAway makes every request fail, or none.
func (b *gatedBucket) setAway(away bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.away = away
}

// hold blocks transactions until release is called.
func (b *gatedBucket) hold() (release func()) {
	shut := make(chan struct{})
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shut = shut
	return sync.OnceFunc(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.shut = nil
		close(shut)
	})
}

func (b *gatedBucket) pass() (shut chan struct{}, err error) {
	b.requests.Add(1)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.away {
		return nil, errAway
	}
	return b.shut, nil
}

// isTransaction reports whether key is a level 0 file of a log.
func isTransaction(key string) bool { return strings.Contains(key, "/ltx/0000/") }

func (b *gatedBucket) Put(ctx context.Context, key string, body io.Reader, size int64, cond objstore.Condition) (objstore.Info, error) {
	shut, err := b.pass()
	if err != nil {
		return objstore.Info{}, err
	}
	if isTransaction(key) {
		b.appends.Add(1)
		b.bytes.Add(size)
		if b.latency > 0 {
			time.Sleep(b.latency)
		}
		if shut != nil {
			select {
			case <-shut:
			case <-ctx.Done():
				return objstore.Info{}, ctx.Err()
			}
		}
	}
	return b.Bucket.Put(ctx, key, body, size, cond)
}

func (b *gatedBucket) Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, objstore.Info, error) {
	if _, err := b.pass(); err != nil {
		return nil, objstore.Info{}, err
	}
	return b.Bucket.Get(ctx, key, off, n)
}

func (b *gatedBucket) Stat(ctx context.Context, key string) (objstore.Info, error) {
	if _, err := b.pass(); err != nil {
		return objstore.Info{}, err
	}
	return b.Bucket.Stat(ctx, key)
}

func (b *gatedBucket) List(ctx context.Context, prefix, after string, limit int) ([]objstore.Info, error) {
	if _, err := b.pass(); err != nil {
		return nil, err
	}
	return b.Bucket.List(ctx, prefix, after, limit)
}

// openWith opens data, configured by change, until the end of the test.
func openWith(t *testing.T, bucket objstore.Bucket, dir string, change func(*dataplane.Config)) *dataplane.Volumes {
	t.Helper()
	c := config(t, bucket, dir)
	change(&c)
	v, err := dataplane.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	return v
}

// contextFor ends after d.
func contextFor(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeout(t.Context(), d)
}

func inSync(c *dataplane.Config) { c.Sync = true }

func closed(t *testing.T, v *dataplane.Volumes) {
	t.Helper()
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
}

// logOf opens a database's log as another process would.
func logOf(t *testing.T, bucket objstore.Bucket, name string) *replica.Log {
	t.Helper()
	log, err := replica.Open(t.Context(), replica.Config{
		Bucket: bucket, Prefix: branch.DatabasePrefix(svc.Ref{Project: "p", Version: "v1"}, name), Logger: config(t, bucket, "-").Logger,
	})
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// restored queries a database restored from the bucket alone.
func restored(t *testing.T, bucket objstore.Bucket, name, text string) int64 {
	t.Helper()
	log := logOf(t, bucket, name)
	path := filepath.Join(t.TempDir(), "restored.sqlite")
	if err := log.Restore(t.Context(), log.Position(), path); err != nil {
		t.Fatal(err)
	}
	return ask(t, path, text)
}

// ask queries a file that no process has open, which must be sound.
func ask(t *testing.T, path, text string) (n int64) {
	t.Helper()
	c, err := raw.Open(path, raw.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = c.Query("PRAGMA integrity_check", nil, func(s *raw.Stmt) error {
		if got := s.Text(0); got != "ok" {
			return fmt.Errorf("damaged: %s", got)
		}
		return nil
	})
	if err == nil {
		err = c.Query(text, nil, func(s *raw.Stmt) error { n = s.Int64(0); return nil })
	}
	if err = errors.Join(err, c.Close()); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return n
}
