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

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/objstore/objstoretest"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/svc"
)

func putBlob(t *testing.T, b volume.Blobs, body []byte) string {
	t.Helper()
	key, err := b.Put(t.Context(), iotest.HalfReader(bytes.NewReader(body)), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func readBlob(t *testing.T, b volume.Blobs, key string, off, n int64) ([]byte, error) {
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
	bucket, dir := new(memstore.Bucket), t.TempDir()
	v := openOn(t, bucket, dir)
	b, db := v.Blobs(), database(t, v, volume.SharedDatabase)
	exec(t, db, "CREATE TABLE t(x)")
	body := bytes.Repeat([]byte("0123456789"), 30_000) // too large for memory
	for _, body := range [][]byte{body, body[:100], nil} {
		key := putBlob(t, b, body)
		name, ok := branch.ParseBlob(key)
		if !ok || name.Version != (svc.Ref{Project: "p", Version: "v1"}) || name.Since > db.History().Head+1 {
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
			t.Errorf("left: %s", f.Name())
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// TestBlobsRejected: a body of another size than announced, or with an error at its end, is not stored.
func TestBlobsRejected(t *testing.T) {
	t.Parallel()
	bucket := new(memstore.Bucket)
	b := openOn(t, bucket, t.TempDir()).Blobs()
	refused := errors.New("rejected at the end")
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

// TestReferenceAndUnreference: only recently stored blobs of this version can be referenced, and only
// referenced ones unreferenced.
func TestReferenceAndUnreference(t *testing.T) {
	t.Parallel()
	v := openOn(t, new(memstore.Bucket), t.TempDir())
	b, db := v.Blobs(), database(t, v, volume.SharedDatabase)
	do := func(fn func(c *raw.Conn) error) error {
		return db.Write(t.Context(), func(c *raw.Conn) error { return c.InTx("BEGIN IMMEDIATE", func() error { return fn(c) }) })
	}
	keep := func(key string) error { return do(func(c *raw.Conn) error { return b.Reference(c, key) }) }
	drop := func(key string) error { return do(func(c *raw.Conn) error { return b.Unreference(c, key) }) }
	key := putBlob(t, b, []byte("body"))
	if err := errors.Join(keep(key), drop(key)); err != nil {
		t.Fatal(err)
	}
	if keep(key) == nil || drop(key) == nil {
		t.Error("a blob is referenced or unreferenced twice")
	}
	old := branch.NewBlob(svc.Ref{Project: "p", Version: "v1"}, 1)
	old.ID[0]-- // some years
	for _, key := range []string{"", "p/v1/db/x", branch.NewBlob(svc.Ref{Project: "p", Version: "v2"}, 1).Key(), old.Key()} {
		if keep(key) == nil || drop(key) == nil {
			t.Errorf("%q is referenced or unreferenced", key)
		}
	}
}

// breaking breaks connections that read blobs after some bytes.
type breaking struct {
	*memstore.Bucket
	after atomic.Int64 // bytes of one connection; none when 0
	fail  atomic.Int64 // requests that fail
	gets  atomic.Int64
}

func (b *breaking) Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, objstore.Info, error) {
	if !strings.Contains(key, "/blobs/") {
		return b.Bucket.Get(ctx, key, off, n)
	}
	b.gets.Add(1)
	if b.fail.Add(-1) >= 0 {
		return nil, objstore.Info{}, errors.New("no connection")
	}
	r, info, err := b.Bucket.Get(ctx, key, off, n)
	if after := b.after.Load(); after > 0 && err == nil {
		r = io.NopCloser(io.LimitReader(r, after))
	}
	return r, info, err
}

// TestBlobsReconnect: reading a blob continues after a broken connection.
func TestBlobsReconnect(t *testing.T) {
	t.Parallel()
	bucket, dir := &breaking{Bucket: new(memstore.Bucket)}, t.TempDir()
	v := openOn(t, bucket, dir)
	body := []byte(strings.Repeat("0123456789", 100))
	key := putBlob(t, v.Blobs(), body)
	closed(t, v)
	v = openOn(t, bucket, dir) // without a cached blob
	database(t, v, "a")
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
		t.Error("read a body without an answer of the object store")
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

// TestBlobsLostAnswer: a blob is stored although the answer of the object store was lost.
func TestBlobsLostAnswer(t *testing.T) {
	t.Parallel()
	var lost atomic.Bool
	b := openOn(t, &objstoretest.Hooked{Bucket: new(memstore.Bucket), Around: func(_ context.Context, op objstoretest.Op, key string, do func() error) error {
		err := do()
		if op == objstoretest.Put && strings.Contains(key, "/blobs/") && !lost.Swap(true) && err == nil {
			err = errors.New("the answer is lost")
		}
		return err
	}}, t.TempDir()).Blobs()
	key := putBlob(t, b, []byte("body"))
	if got, err := readBlob(t, b, key, 0, 4); err != nil || string(got) != "body" {
		t.Errorf("%q, %v", got, err)
	}
}
