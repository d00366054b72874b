package s3server

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"
	"github.com/versity/versitygw/backend"
	"github.com/versity/versitygw/s3err"
	"github.com/versity/versitygw/s3response"
)

// hooked is a backend that calls a hook during each request.
type hooked struct {
	backend.BackendUnsupported
	put, remove func()
	file        *os.File // before it has its name
	err         error    // of a put
}

func (h *hooked) PutObjectWithPostFunc(_ context.Context, _ s3response.PutObjectInput, hook func(*os.File) error) (s3response.PutObjectOutput, error) {
	if h.file != nil {
		return s3response.PutObjectOutput{}, hook(h.file)
	}
	h.put()
	return s3response.PutObjectOutput{}, h.err
}

func (h *hooked) UploadPartWithPostFunc(context.Context, *awss3.UploadPartInput, func(*os.File) error) (*awss3.UploadPartOutput, error) {
	return nil, errors.ErrUnsupported
}

func (h *hooked) CompleteMultipartUpload(context.Context, *awss3.CompleteMultipartUploadInput) (s3response.CompleteMultipartUploadResult, string, error) {
	return s3response.CompleteMultipartUploadResult{}, "", nil
}

func (h *hooked) DeleteObject(context.Context, *awss3.DeleteObjectInput) (*awss3.DeleteObjectOutput, error) {
	h.remove()
	return nil, nil
}

// TestDurable: a write is on the disk with every directory that may be new. A
// directory that is known to be on the disk is not synced again, except after a
// removal.
func TestDurable(t *testing.T) {
	t.Parallel()
	nothing := func() {}
	h := &hooked{put: nothing, remove: nothing}
	var synced []string
	var broken error
	d := newDurable(h, "/root", "")
	d.fsync = func(path string) error {
		synced = append(synced, path)
		return broken
	}
	put := func(key string) (paths []string, err error) {
		synced = nil
		bucket := "b"
		_, err = d.PutObject(t.Context(), s3response.PutObjectInput{Bucket: &bucket, Key: &key})
		return synced, err
	}
	remove := func() {
		if _, err := d.DeleteObject(t.Context(), nil); err != nil {
			t.Error(err)
		}
	}
	expect := func(when, key string, want ...string) {
		t.Helper()
		if got, err := put(key); err != nil || !cmp.Equal(want, got) {
			t.Errorf("%s: %v, %s", when, err, cmp.Diff(want, got))
		}
	}
	full := []string{"/root/b/x/y/1", "/root/b/x/y", "/root/b/x", "/root/b", "/root"}
	broken = errors.New("no disk")
	if _, err := put("x/y/1"); !errors.Is(err, broken) {
		t.Error("acknowledged without being on the disk")
	}
	broken = nil
	expect("after a failure", "x/y/1", full...)
	expect("the second", "x/y/1", "/root/b/x/y/1", "/root/b/x/y")
	expect("a new directory", "x/z/1", "/root/b/x/z/1", "/root/b/x/z", "/root/b/x")
	remove()
	expect("after a removal", "x/y/1", full...)

	h.put = remove // the directory may be removed while the object is written
	expect("concurrent removal", "x/y/1", full...)
	h.put = nothing
	expect("after a write during a removal", "x/y/1", full...)

	h.remove = func() { expect("during a removal", "x/y/1", full...) }
	remove()
	h.remove = nothing
	expect("after a write within a removal", "x/y/1", full...)
	expect("after the removals", "x/y/1", "/root/b/x/y/1", "/root/b/x/y")

	broken = os.ErrNotExist
	expect("concurrent deletion", "x/new/1", "/root/b/x/new/1")
	upload, bucket, key := "id", "b", "x/new/2"
	_, _, err := d.CompleteMultipartUpload(t.Context(), &awss3.CompleteMultipartUploadInput{Bucket: &bucket, Key: &key, UploadId: &upload})
	if e := s3err.S3Error(nil); !errors.As(err, &e) || !strings.Contains(err.Error(), "SlowDown") {
		t.Errorf("completed an object that does not exist yet: %v", err)
	}
	broken = nil
	expect("after a deletion", "x/new/1", "/root/b/x/new/1", "/root/b/x/new", "/root/b/x")
}

// TestRejectedIsDurable: a rejected writer may take the existing object for its own,
// written by an earlier request without an answer, so the object must be durable.
func TestRejectedIsDurable(t *testing.T) {
	t.Parallel()
	h := &hooked{put: func() {}, err: s3err.GetAPIError(s3err.ErrPreconditionFailed)}
	d := newDurable(h, "/root", "")
	var broken error
	synced := 0
	d.fsync = func(string) error { synced++; return broken }
	bucket, key, any := "b", "k", "*"
	put := func(condition *string) error {
		_, err := d.PutObject(t.Context(), s3response.PutObjectInput{Bucket: &bucket, Key: &key, IfNoneMatch: condition})
		return err
	}
	if err := put(&any); err != h.err || synced != 3 { //nolint:errorlint // the front end does not unwrap
		t.Errorf("%v, %d files are synced", err, synced)
	}
	if err := put(nil); err != h.err || synced != 3 { //nolint:errorlint // as above
		t.Errorf("%v, %d files are synced", err, synced)
	}
	broken = errors.New("no disk")
	if err := put(&any); !errors.Is(err, broken) {
		t.Errorf("%v: it may not be on the disk", err)
	}
}

// TestMetadataIsDurable: on a filesystem without attributes metadata is in files, and
// an object without them would be overwritten.
func TestMetadataIsDurable(t *testing.T) {
	t.Parallel()
	side := t.TempDir()
	dir := filepath.Join(side, "b", "x", "1", "meta")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "etag"), []byte("e"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := newDurable(&hooked{put: func() {}}, "/root", side)
	var synced []string
	d.fsync = func(path string) error { synced = append(synced, strings.TrimPrefix(path, side)); return nil }
	bucket, key := "b", "x/1"
	if _, err := d.PutObject(t.Context(), s3response.PutObjectInput{Bucket: &bucket, Key: &key}); err != nil {
		t.Fatal(err)
	}
	want := []string{"/b/x/1/meta/etag", "/b/x/1/meta", "/b/x/1", "/b/x", "/b", "", "/root/b/x/1", "/root/b/x", "/root/b", "/root"}
	if diff := cmp.Diff(want, synced); diff != "" {
		t.Error(diff)
	}
}

// TestContentComesFirst: an object gets its name after its content is on the disk.
func TestContentComesFirst(t *testing.T) {
	t.Parallel()
	f, err := os.Create(filepath.Join(t.TempDir(), "new"))
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close() // so it cannot be synced
	d := newDurable(&hooked{file: f}, "/root", "")
	bucket, key := "b", "k"
	if _, err := d.PutObject(t.Context(), s3response.PutObjectInput{Bucket: &bucket, Key: &key}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("%v: it was not synced", err)
	}
}
