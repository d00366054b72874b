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

	"github.com/svcctl/svcctl/internal/branch"
	"github.com/svcctl/svcctl/internal/dataplane"
	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/replica"
	"github.com/svcctl/svcctl/internal/sqlite/raw"
	"github.com/svcctl/svcctl/internal/svc"
)

// valve is the way to a bucket. It counts, and a test can close it.
type valve struct {
	objstore.Bucket
	latency time.Duration // of a transaction; set before use

	requests, appends, bytes atomic.Int64 // of any kind; transactions, and their bytes

	mu   sync.Mutex
	away bool          // every request fails
	shut chan struct{} // transactions wait until it is closed
}

var errAway = errors.New("the store is away")

// setAway lets every request fail, or none.
func (v *valve) setAway(away bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.away = away
}

// hold keeps transactions from the store until release is called.
func (v *valve) hold() (release func()) {
	shut := make(chan struct{})
	v.mu.Lock()
	defer v.mu.Unlock()
	v.shut = shut
	return sync.OnceFunc(func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.shut = nil
		close(shut)
	})
}

func (v *valve) pass() (shut chan struct{}, err error) {
	v.requests.Add(1)
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.away {
		return nil, errAway
	}
	return v.shut, nil
}

// isTransaction tells the newest part of a log from all else.
func isTransaction(key string) bool { return strings.Contains(key, "/ltx/0000/") }

func (v *valve) Put(ctx context.Context, key string, body io.Reader, size int64, cond objstore.Condition) (objstore.Info, error) {
	shut, err := v.pass()
	if err != nil {
		return objstore.Info{}, err
	}
	if isTransaction(key) {
		v.appends.Add(1)
		v.bytes.Add(size)
		if v.latency > 0 {
			time.Sleep(v.latency)
		}
		if shut != nil {
			select {
			case <-shut:
			case <-ctx.Done():
				return objstore.Info{}, ctx.Err()
			}
		}
	}
	return v.Bucket.Put(ctx, key, body, size, cond)
}

func (v *valve) Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, objstore.Info, error) {
	if _, err := v.pass(); err != nil {
		return nil, objstore.Info{}, err
	}
	return v.Bucket.Get(ctx, key, off, n)
}

func (v *valve) Stat(ctx context.Context, key string) (objstore.Info, error) {
	if _, err := v.pass(); err != nil {
		return objstore.Info{}, err
	}
	return v.Bucket.Stat(ctx, key)
}

func (v *valve) List(ctx context.Context, prefix, after string, limit int) ([]objstore.Info, error) {
	if _, err := v.pass(); err != nil {
		return nil, err
	}
	return v.Bucket.List(ctx, prefix, after, limit)
}

// openWith opens data that change configures, until the end of the test.
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

// logOf is a store's log as another process would find it.
func logOf(t *testing.T, bucket objstore.Bucket, name string) *replica.Log {
	t.Helper()
	log, err := replica.Open(t.Context(), replica.Config{
		Bucket: bucket, Prefix: branch.StorePrefix(svc.Ref{Project: "p", Version: "v1"}, name), Logger: config(t, bucket, "-").Logger,
	})
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// restored asks what the bucket alone gives back of a store.
func restored(t *testing.T, bucket objstore.Bucket, name, text string) int64 {
	t.Helper()
	log := logOf(t, bucket, name)
	path := filepath.Join(t.TempDir(), "restored.sqlite")
	if err := log.Restore(t.Context(), log.Position(), path); err != nil {
		t.Fatal(err)
	}
	return ask(t, path, text)
}

// ask opens a file that is nobody's and asks for a number. The file must be sound.
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
