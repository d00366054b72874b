package dirstore_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/dirstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/objstore/objstoretest"
)

func open(t *testing.T, dir string) *dirstore.Bucket {
	t.Helper()
	b, err := dirstore.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func put(b objstore.Bucket, key, body string, cond objstore.Condition) (objstore.Info, error) {
	return b.Put(context.Background(), key, strings.NewReader(body), int64(len(body)), cond)
}

func mustPut(t *testing.T, b objstore.Bucket, key, body string) {
	t.Helper()
	if _, err := put(b, key, body, objstore.Condition{}); err != nil {
		t.Fatal(err)
	}
}

func keys(t *testing.T, b objstore.Bucket, prefix string) []string {
	t.Helper()
	infos, err := objstore.ListAll(t.Context(), b, prefix)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, info := range infos {
		got = append(got, info.Key)
	}
	return got
}

func TestContract(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "made", "on demand")
	objstoretest.Run(t, open(t, dir))
	for _, key := range keys(t, open(t, dir), "") {
		if data, err := os.ReadFile(filepath.Join(dir, key)); err != nil { // objects are readable as plain files
			t.Errorf("%s is not a plain file of %d bytes: %v", key, len(data), err)
		}
	}
	if left, err := os.ReadDir(filepath.Join(dir, ".dirstore", "new")); err != nil || len(left) > 0 {
		t.Errorf("staged objects are left: %v, %v", left, err)
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	b := open(t, t.TempDir())
	if err := objstore.Probe(t.Context(), b, "probe"); err != nil {
		t.Error(err)
	}
	if left := keys(t, b, ""); left != nil {
		t.Errorf("the probe left %v", left)
	}
}

func TestInvalidKeys(t *testing.T) {
	t.Parallel()
	b := open(t, t.TempDir())
	for _, key := range []string{"", ".", "..", "/a", "a/", "a//b", "a/../b", "../a", "a/.", ".dirstore", ".dirstore/lock", ".dirstore/new/x", "a\xff"} {
		_, perr := put(b, key, "x", objstore.Condition{})
		_, _, gerr := b.Get(t.Context(), key, 0, -1)
		_, serr := b.Stat(t.Context(), key)
		derr := b.Delete(t.Context(), key)
		for _, err := range []error{perr, gerr, serr, derr} {
			if err == nil || !strings.Contains(err.Error(), "invalid key") {
				t.Errorf("%q: %v", key, err)
			}
		}
	}
	if got := keys(t, b, ""); got != nil {
		t.Errorf("stored %v", got)
	}
}

func TestListIsInOrderOfKeys(t *testing.T) {
	t.Parallel()
	b := open(t, t.TempDir())
	all := []string{"a/b/c", "a-b", "a.b", "a/a", "a/b.c", "ab/x", "b", "hosts/h.json", "a0", "z/.dirstore/x", ".hidden", "über/x"}
	for _, key := range all {
		mustPut(t, b, key, key)
	}
	slices.Sort(all)
	for _, prefix := range []string{"", "a", "a/", "a/b", "a/b/", "a/b/c", "ho", "hosts/", "nothing/", "b/", ".", "../", "/", "a//", ".dirstore/", ".dirstore/l"} {
		var below []string
		for _, key := range all {
			if strings.HasPrefix(key, prefix) {
				below = append(below, key)
			}
		}
		for limit := 1; limit <= len(all)+1; limit++ {
			var got []string
			for after := ""; ; {
				page, err := b.List(t.Context(), prefix, after, limit)
				if err != nil {
					t.Fatal(err)
				}
				for _, info := range page {
					got = append(got, info.Key)
				}
				if len(page) < limit {
					break
				}
				after = page[len(page)-1].Key
			}
			if !slices.Equal(got, below) {
				t.Errorf("below %q by %d: %v, want %v", prefix, limit, got, below)
			}
		}
	}
}

func TestListedLikeStat(t *testing.T) {
	t.Parallel()
	b := open(t, t.TempDir())
	mustPut(t, b, "p/v/version.json", "{}")
	want, err := b.Stat(t.Context(), "p/v/version.json")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := b.List(t.Context(), "p/", "", 9); err != nil || len(got) != 1 || got[0] != want || want.Modified.IsZero() {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}

// TestFolders uses keys of objects as folders, and the reverse.
func TestFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := open(t, dir)
	mustPut(t, b, "a/b", "x")
	for _, cond := range []objstore.Condition{{}, {IfAbsent: true}} {
		for _, key := range []string{"a", "a/b/c"} {
			if _, err := put(b, key, "x", cond); err == nil || errors.Is(err, objstore.ErrPrecondition) {
				t.Errorf("put %s beside a/b: %v", key, err) // not ErrPrecondition: the key does not exist
			}
		}
	}
	for _, key := range []string{"a", "a/b/c", "none/at/all"} {
		if _, err := b.Stat(t.Context(), key); !errors.Is(err, objstore.ErrNotExist) {
			t.Errorf("stat %s: %v", key, err)
		}
		if err := b.Delete(t.Context(), key); err != nil {
			t.Errorf("delete %s: %v", key, err)
		}
	}
	if got := keys(t, b, ""); !slices.Equal(got, []string{"a/b"}) {
		t.Fatalf("left %v", got)
	}
	if err := b.Delete(t.Context(), "a/b"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "a")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the empty folder still exists: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "a"), 0o700); err != nil { // as a kill leaves it
		t.Fatal(err)
	}
	if _, err := put(b, "a", "x", objstore.Condition{IfAbsent: true}); err != nil {
		t.Errorf("put over an empty folder: %v", err)
	}
}

func TestOpenDeletesStaleStagedObjects(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := open(t, dir)
	mustPut(t, b, "kept", "x")
	staged := filepath.Join(dir, ".dirstore", "new")
	for name, age := range map[string]time.Duration{"OLD": 2 * time.Hour, "YOUNG": time.Minute} {
		path := filepath.Join(staged, name)
		if err := os.WriteFile(path, []byte("half an obj"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(dir, "kept"), filepath.Join(staged, "PLACED")); err != nil { // killed between link and remove
		t.Fatal(err)
	}
	again := open(t, dir)
	left, err := os.ReadDir(staged)
	if err != nil || len(left) != 2 || left[1].Name() != "YOUNG" {
		t.Errorf("left %v, %v", left, err)
	}
	if got := keys(t, again, ""); !slices.Equal(got, []string{"kept"}) {
		t.Errorf("listed %v", got)
	}
}

// TestLockHeldByAnother: writes wait for the lock until their context ends, and
// reads do not wait.
func TestLockHeldByAnother(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := open(t, dir)
	mustPut(t, b, "k", "x")
	f, err := os.Open(filepath.Join(dir, ".dirstore", "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := b.Put(ctx, "k", strings.NewReader("y"), 1, objstore.Condition{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("put: %v", err)
	}
	if err := b.Delete(ctx, "k"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("delete: %v", err)
	}
	if data, _, err := objstore.Read(t.Context(), b, "k", 0, -1); err != nil || string(data) != "x" {
		t.Errorf("read %q, %v", data, err)
	}
	done := make(chan error)
	go func() {
		_, err := put(b, "k", "z", objstore.Condition{})
		done <- err
	}()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestOpenFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "below")} {
		if b, err := dirstore.Open(dir); err == nil {
			t.Errorf("opened %s: %v", dir, b.Close())
		}
	}
}

func BenchmarkPut(b *testing.B) {
	s, err := dirstore.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	body := strings.Repeat("x", 1000)
	for b.Loop() {
		if _, err := put(s, "project/version/version.json", body, objstore.Condition{}); err != nil {
			b.Fatal(err)
		}
	}
}
