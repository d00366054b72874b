package dataplane_test

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/svcctl/svcctl/internal/data/dataplane"
	"github.com/svcctl/svcctl/internal/data/memstore"
)

// cachedFiles are the files of the cache, and their bytes together.
func cachedFiles(t *testing.T, dir string) (files []string, size int64) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(dir, "tmp"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		files = append(files, path)
		size += info.Size()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files, size
}

// TestBlobCache: recently stored or read blobs are read again without a request.
func TestBlobCache(t *testing.T) {
	t.Parallel()
	bucket, dir := &breaking{Bucket: new(memstore.Bucket)}, t.TempDir()
	v := openOn(t, bucket, dir)
	want := func(key string, off, n int64, body []byte, requests int64) {
		t.Helper()
		bucket.gets.Store(0)
		if got, err := readBlob(t, v.Blobs(), key, off, n); err != nil || !bytes.Equal(got, body[off:off+n]) || bucket.gets.Load() != requests {
			t.Errorf("%d bytes from %d: %d in %d requests, %v", n, off, len(got), bucket.gets.Load(), err)
		}
	}
	body := bytes.Repeat([]byte("0123456789"), 40_000)
	key := putBlob(t, v.Blobs(), body)
	want(key, 0, 400_000, body, 0)
	want(key, 399_990, 10, body, 0)
	closed(t, v)
	v = openOn(t, bucket, dir)
	database(t, v, "a") // opening the data clears the cache
	want(key, 10, 100, body, 1)
	want(key, 10, 100, body, 1) // parts from the middle are not kept
	want(key, 0, 1000, body, 1)
	want(key, 990, 10, body, 0)
	want(key, 990, 11, body, 1)
	want(key, 0, 400_000, body, 1)
	want(key, 990, 399_010, body, 0)

	other := putBlob(t, v.Blobs(), body[1:])
	files, _ := cachedFiles(t, dir)
	if len(files) != 2 {
		t.Errorf("files: %v", files)
	}
	for _, file := range files { // a deleted file is read from the object store
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	want(other, 0, 10, body[1:], 1)
	want(key, 0, 10, body, 1)

	r, err := v.Blobs().Get(t.Context(), key, 0, 400_000) // not read to its end
	if err == nil {
		_, err = io.CopyN(io.Discard, r, 1000)
	}
	if err != nil || r.Close() != nil {
		t.Fatal(err)
	}
	want(key, 0, 400_000, body, 1)
}

// TestBlobCacheIsBounded: the cache evicts the least recently used blobs.
func TestBlobCacheIsBounded(t *testing.T) {
	t.Parallel()
	bucket, dir := &breaking{Bucket: new(memstore.Bucket)}, t.TempDir()
	c := config(t, bucket, dir)
	c.DiskLimit = 1 << 30 // a cache of 64 MiB
	v, err := dataplane.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, v)
	put := func(size int64) string {
		t.Helper()
		key, err := v.Blobs().Put(t.Context(), io.LimitReader(zeros{}, size), size)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	asked := func(key string) bool {
		t.Helper()
		bucket.gets.Store(0)
		if _, err := readBlob(t, v.Blobs(), key, 1, 1); err != nil {
			t.Fatal(err)
		}
		return bucket.gets.Load() > 0
	}
	const each = 8 << 20
	large := put(each + 1)
	if !asked(large) {
		t.Error("a large blob is cached when it is stored")
	}
	if _, err := readBlob(t, v.Blobs(), large, 0, each+1); err != nil || asked(large) {
		t.Errorf("a large blob is not cached when it was read: %v", err)
	}
	var keys []string
	for range 8 {
		keys = append(keys, put(each))
	}
	asked(keys[0]) // makes it recently used
	keys = append(keys, put(each), put(2))
	for i, gone := range []bool{false, true, true, false, false, false, false, false, false, false} {
		if got := asked(keys[i]); got != gone {
			t.Errorf("blob %d was evicted: %t", i, got)
		}
	}
	if files, size := cachedFiles(t, dir); len(files) != 8 || size != 7*each+2 {
		t.Errorf("%d files of %d bytes", len(files), size)
	}
}

// TestBlobCacheConcurrent reads and stores concurrently.
func TestBlobCacheConcurrent(t *testing.T) {
	t.Parallel()
	v := openOn(t, new(memstore.Bucket), t.TempDir())
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			body := bytes.Repeat([]byte{byte(i)}, 1<<20)
			for range 6 {
				key := putBlob(t, v.Blobs(), body)
				for range 2 {
					if got, err := readBlob(t, v.Blobs(), key, 0, 1<<20); err != nil || !bytes.Equal(got, body) {
						t.Error(fmt.Sprint(len(got)), err)
					}
				}
			}
		})
	}
	all.Wait()
}
