package acme

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

func testStore(t *testing.T, b objstore.Bucket, key svc.Secret) *store {
	t.Helper()
	s, err := newStore(b, key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestStore: what certmagic asks of a storage, and no object shows what it holds.
func TestStore(t *testing.T) {
	t.Parallel()
	ctx, b := t.Context(), &memstore.Bucket{}
	s := testStore(t, b, "recovery-key-of-a-server-in-a-test")
	for _, key := range []string{"a/b/one.key", "a/b/two.key", "a/c.json", "ab/d"} {
		must(t, s.Store(ctx, key, []byte("hunter2 "+key)))
	}
	got, err := s.Load(ctx, "a/b/one.key")
	if err != nil || string(got) != "hunter2 a/b/one.key" {
		t.Errorf("%q, %v", got, err)
	}
	all, err := objstore.ListAll(ctx, b, "")
	must(t, err)
	for _, i := range all {
		data, _, err := objstore.Read(ctx, b, i.Key, 0, -1)
		if err != nil || bytes.Contains(data, []byte("hunter2")) || !strings.HasPrefix(i.Key, Prefix) {
			t.Errorf("%s: %q, %v", i.Key, data, err)
		}
	}
	for _, tc := range []struct {
		dir       string
		recursive bool
		want      []string
	}{
		{"a", true, []string{"a/b/one.key", "a/b/two.key", "a/c.json"}},
		{"a", false, []string{"a/b", "a/c.json"}},
		{"", false, []string{"a", "ab"}},
	} {
		if keys, err := s.List(ctx, tc.dir, tc.recursive); err != nil || !slices.Equal(keys, tc.want) {
			t.Errorf("List(%q, %v) = %v, %v", tc.dir, tc.recursive, keys, err)
		}
	}
	if dir, err := s.Stat(ctx, "a/b"); err != nil || dir.IsTerminal {
		t.Errorf("%+v, %v", dir, err)
	}
	if file, err := s.Stat(ctx, "a/c.json"); err != nil || !file.IsTerminal || file.Modified.IsZero() {
		t.Errorf("%+v, %v", file, err)
	}
	must(t, s.Delete(ctx, "a/b"))
	must(t, s.Delete(ctx, "a/b"))
	if s.Exists(ctx, "a/b/one.key") || s.Exists(ctx, "a/b") || !s.Exists(ctx, "a") || !s.Exists(ctx, "ab/d") {
		t.Error("the wrong files were deleted")
	}
	if _, err := s.List(ctx, "a/b", true); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := s.Load(ctx, "a/b/one.key"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestStoreOfOthers: servers with another key have files of their own, and a newer format
// is refused with both versions.
func TestStoreOfOthers(t *testing.T) {
	t.Parallel()
	ctx, b := t.Context(), &memstore.Bucket{}
	one, two := testStore(t, b, "recovery-key-of-one"), testStore(t, b, "recovery-key-of-two")
	must(t, one.Store(ctx, "x", []byte("1")))
	if two.Exists(ctx, "x") {
		t.Error("two sees the file of one")
	}
	if got, err := testStore(t, b, "recovery-key-of-one").Load(ctx, "x"); err != nil || string(got) != "1" {
		t.Errorf("%q, %v", got, err)
	}
	newer := []byte(magic + "2\nwhatever")
	_, err := b.Put(ctx, one.prefix+"y", bytes.NewReader(newer), int64(len(newer)), objstore.Condition{})
	must(t, err)
	if _, err := one.Load(ctx, "y"); svc.CodeOf(err) != svc.CodeFormatNewer || !strings.Contains(err.Error(), "the format 2, this program knows 1") {
		t.Error(err)
	}
}

// TestLock: one holder at a time, for as long as it lives; a lock whose holder has died is
// taken after its time.
func TestLock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, b := t.Context(), &memstore.Bucket{}
		one, two := testStore(t, b, "the-same-key"), testStore(t, b, "the-same-key")
		must(t, one.Lock(ctx, "x"))
		must(t, two.Lock(ctx, "y"))
		must(t, two.Unlock(ctx, "y"))
		began, taken := time.Now(), make(chan error, 1)
		go func() { taken <- two.Lock(ctx, "x") }()
		time.Sleep(10 * lockTime)
		synctest.Wait()
		select {
		case err := <-taken:
			t.Fatalf("a held lock was taken: %v", err)
		default:
		}
		must(t, one.Unlock(ctx, "x"))
		must(t, <-taken)
		if waited := time.Since(began); waited > 10*lockTime+time.Second {
			t.Errorf("taken %v after the beginning", waited)
		}
		two.locks["x"].stop() // it dies
		began = time.Now()
		must(t, one.Lock(ctx, "x"))
		if waited := time.Since(began); waited < lockTime || waited > lockTime+lockRenew {
			t.Errorf("the lock of a dead holder was taken after %v", waited)
		}
		must(t, one.Unlock(ctx, "x"))
		if err := one.Unlock(ctx, "x"); err == nil {
			t.Error("a lock that is not held was released")
		}
		if left, err := objstore.ListAll(ctx, b, ""); err != nil || len(left) != 0 {
			t.Errorf("%v, %v", left, err)
		}
	})
}

// TestLockLost: a holder that was suspended does not release the lock of the next one.
func TestLockLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, b := t.Context(), &memstore.Bucket{}
		one, two := testStore(t, b, "the-same-key"), testStore(t, b, "the-same-key")
		must(t, one.Lock(ctx, "x"))
		must(t, b.Delete(ctx, one.lockKey("x")))
		must(t, two.Lock(ctx, "x"))
		time.Sleep(2 * lockRenew)
		must(t, one.Unlock(ctx, "x"))
		late, cancel := context.WithTimeout(ctx, lockTime*2)
		defer cancel()
		if err := one.Lock(late, "x"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the lock of another server: %v", err)
		}
		must(t, two.Unlock(ctx, "x"))
	})
}
