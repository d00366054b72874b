package dataplane_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/svcctl/svcctl/internal/binding"
	"github.com/svcctl/svcctl/internal/branch"
	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/sqlite/raw"
	"github.com/svcctl/svcctl/internal/svc"
)

func putBlob(t *testing.T, b binding.Blobs, body []byte) string {
	t.Helper()
	key, err := b.Put(t.Context(), iotest.HalfReader(bytes.NewReader(body)), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func readBlob(t *testing.T, b binding.Blobs, key string, off, n int64) ([]byte, error) {
	t.Helper()
	r, err := b.Get(t.Context(), key, off, n)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

func TestBlobs(t *testing.T) {
	t.Parallel()
	bucket, dir := new(objstore.Mem), t.TempDir()
	v := openOn(t, bucket, dir)
	b, s := v.Blobs(), store(t, v, binding.SharedStore)
	exec(t, s, "CREATE TABLE t(x)")
	body := bytes.Repeat([]byte("0123456789"), 30_000) // more than is kept in memory
	for _, body := range [][]byte{body, body[:100], nil} {
		key := putBlob(t, b, body)
		name, ok := branch.ParseBlob(key)
		if !ok || name.Version != (svc.Ref{Project: "p", Version: "v1"}) || name.Since > s.History().Head+1 {
			t.Errorf("key %s", key)
		}
		for _, part := range [][2]int{{0, len(body)}, {len(body) / 2, len(body) / 4}, {0, 0}} {
			if got, err := readBlob(t, b, key, int64(part[0]), int64(part[1])); err != nil || !bytes.Equal(got, body[part[0]:][:part[1]]) {
				t.Errorf("%v of %d bytes: %d, %v", part, len(body), len(got), err)
			}
		}
	}
	left, err := os.ReadDir(dir)
	for _, f := range left {
		if strings.HasPrefix(f.Name(), "body-") {
			t.Errorf("left behind: %s", f.Name())
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// A body that is not what was announced, or that refuses itself, stores nothing.
func TestBlobsRefused(t *testing.T) {
	t.Parallel()
	bucket := new(objstore.Mem)
	b := openOn(t, bucket, t.TempDir()).Blobs()
	refused := errors.New("refused at the end")
	for _, size := range []int64{10, 1 << 20} {
		body := func() io.Reader { return io.LimitReader(zeros{}, size) }
		if _, err := b.Put(t.Context(), body(), size+1); err == nil {
			t.Error("a short body is stored")
		}
		if _, err := b.Put(t.Context(), body(), size-1); err == nil {
			t.Error("a long body is stored")
		}
		if _, err := b.Put(t.Context(), io.MultiReader(body(), iotest.ErrReader(refused)), size); !errors.Is(err, refused) {
			t.Errorf("got %v", err)
		}
	}
	if infos, err := objstore.ListAll(t.Context(), bucket, "p/v1/blobs/"); err != nil || len(infos) > 0 {
		t.Errorf("stored: %v, %v", infos, err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// Keep takes only what this version has just stored, and Drop only what was kept.
func TestKeepAndDrop(t *testing.T) {
	t.Parallel()
	v := openOn(t, new(objstore.Mem), t.TempDir())
	b, s := v.Blobs(), store(t, v, binding.SharedStore)
	do := func(fn func(c *raw.Conn) error) error {
		return s.Write(t.Context(), func(c *raw.Conn) error { return c.InTx("BEGIN IMMEDIATE", func() error { return fn(c) }) })
	}
	keep := func(key string) error { return do(func(c *raw.Conn) error { return b.Keep(c, key) }) }
	drop := func(key string) error { return do(func(c *raw.Conn) error { return b.Drop(c, key) }) }
	key := putBlob(t, b, []byte("body"))
	if err := errors.Join(keep(key), drop(key)); err != nil {
		t.Fatal(err)
	}
	if keep(key) == nil || drop(key) == nil {
		t.Error("a blob is kept or dropped twice")
	}
	old := branch.NewBlob(svc.Ref{Project: "p", Version: "v1"}, 1)
	old.ID[0]-- // some years
	for _, key := range []string{"", "p/v1/db/x", branch.NewBlob(svc.Ref{Project: "p", Version: "v2"}, 1).Key(), old.Key()} {
		if keep(key) == nil || drop(key) == nil {
			t.Errorf("%q is kept or dropped", key)
		}
	}
}

// breaking breaks connections that read blobs after a while.
type breaking struct {
	*objstore.Mem
	after atomic.Int64 // bytes of one connection; none when 0
	fail  atomic.Int64 // requests that fail
	gets  atomic.Int64
}

func (b *breaking) Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, objstore.Info, error) {
	if !strings.Contains(key, "/blobs/") {
		return b.Mem.Get(ctx, key, off, n)
	}
	b.gets.Add(1)
	if b.fail.Add(-1) >= 0 {
		return nil, objstore.Info{}, errors.New("no connection")
	}
	r, info, err := b.Mem.Get(ctx, key, off, n)
	if after := b.after.Load(); after > 0 && err == nil {
		r = io.NopCloser(io.LimitReader(r, after))
	}
	return r, info, err
}

// Reading a blob goes on where a connection broke.
func TestBlobsReadOn(t *testing.T) {
	t.Parallel()
	bucket, dir := &breaking{Mem: new(objstore.Mem)}, t.TempDir()
	v := openOn(t, bucket, dir)
	body := []byte(strings.Repeat("0123456789", 100))
	key := putBlob(t, v.Blobs(), body)
	closed(t, v)
	v = openOn(t, bucket, dir) // which has nothing of it
	store(t, v, "a")
	b := v.Blobs()
	bucket.after.Store(300)
	bucket.gets.Store(0)
	if got, err := readBlob(t, b, key, 5, 990); err != nil || !bytes.Equal(got, body[5:995]) || bucket.gets.Load() != 4 {
		t.Errorf("%d bytes in %d requests: %v", len(got), bucket.gets.Load(), err)
	}
	bucket.fail.Store(2)
	if got, err := readBlob(t, b, key, 1, 10); err != nil || string(got) != "1234567890" {
		t.Errorf("%q, %v", got, err)
	}
	bucket.fail.Store(100)
	if _, err := b.Get(t.Context(), key, 1, 10); err == nil {
		t.Error("a store that does not answer gives a body")
	}
	bucket.fail.Store(0)
	bucket.after.Store(0)
	if got, err := readBlob(t, b, key, 995, 10); !errors.Is(err, objstore.ErrTorn) || string(got) != "56789" {
		t.Errorf("beyond the end: %q, %v", got, err)
	}
	bucket.gets.Store(0)
	if _, err := b.Get(t.Context(), key+"0", 0, 1); !errors.Is(err, objstore.ErrNotExist) || bucket.gets.Load() != 1 {
		t.Errorf("none: %v in %d requests", err, bucket.gets.Load())
	}
}

// A blob that the store took although its answer was lost is stored.
func TestBlobsLostAnswer(t *testing.T) {
	t.Parallel()
	bucket := &lossy{Mem: new(objstore.Mem)}
	b := openOn(t, bucket, t.TempDir()).Blobs()
	bucket.lose.Store(true)
	key := putBlob(t, b, []byte("body"))
	if got, err := readBlob(t, b, key, 0, 4); err != nil || string(got) != "body" {
		t.Errorf("%q, %v", got, err)
	}
}

type lossy struct {
	*objstore.Mem
	lose atomic.Bool
}

func (l *lossy) Put(ctx context.Context, key string, body io.Reader, size int64, cond objstore.Condition) (objstore.Info, error) {
	info, err := l.Mem.Put(ctx, key, body, size, cond)
	if strings.Contains(key, "/blobs/") && l.lose.Swap(false) && err == nil {
		err = errors.New("the answer is lost")
	}
	return info, err
}
