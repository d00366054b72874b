package s3server

import (
	"context"
	"errors"
	"testing"

	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"
	"github.com/versity/versitygw/backend"
	"github.com/versity/versitygw/s3response"
)

// hooked is a backend that does something during each request.
type hooked struct {
	backend.BackendUnsupported
	put, remove func()
}

func (h *hooked) PutObject(context.Context, s3response.PutObjectInput) (s3response.PutObjectOutput, error) {
	h.put()
	return s3response.PutObjectOutput{}, nil
}

func (h *hooked) DeleteObject(context.Context, *awss3.DeleteObjectInput) (*awss3.DeleteObjectOutput, error) {
	h.remove()
	return nil, nil
}

// TestDurable: a write is on the disk with every directory that may be new; one
// that is known to be there is not synced again, unless something was removed.
func TestDurable(t *testing.T) {
	t.Parallel()
	nothing := func() {}
	h := &hooked{put: nothing, remove: nothing}
	var synced []string
	var broken error
	d := newDurable(h, "/root")
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
	expect("what failed is not known", "x/y/1", full...)
	expect("the second", "x/y/1", "/root/b/x/y/1", "/root/b/x/y")
	expect("a new directory", "x/z/1", "/root/b/x/z/1", "/root/b/x/z", "/root/b/x")
	remove()
	expect("after a removal", "x/y/1", full...)

	h.put = remove // the directory may go while the object is written
	expect("a removal meanwhile", "x/y/1", full...)
	h.put = nothing
	expect("what was written meanwhile is not known", "x/y/1", full...)

	h.remove = func() { expect("during a removal", "x/y/1", full...) }
	remove()
	h.remove = nothing
	expect("what was written during one is not known", "x/y/1", full...)
	expect("at last", "x/y/1", "/root/b/x/y/1", "/root/b/x/y")
}
