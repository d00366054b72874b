package s3server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/versity/versitygw/backend"
	"github.com/versity/versitygw/s3response"
)

// store is the backend below durable: posix.
type store interface {
	backend.Backend
	// These call hook with the file before the object has its name.
	PutObjectWithPostFunc(ctx context.Context, in s3response.PutObjectInput, hook func(*os.File) error) (s3response.PutObjectOutput, error)
	UploadPartWithPostFunc(ctx context.Context, in *awss3.UploadPartInput, hook func(*os.File) error) (*awss3.UploadPartOutput, error)
}

// durable fsyncs what the posix backend wrote before a write is acknowledged: the
// object, its directory, and the directories above that are not known to be on the
// disk. The content comes first, before the object has its name: the backend allocates
// the whole length, and after a power failure an object of zeros would look complete.
type durable struct {
	store
	root    string
	sidecar string // directory of the metadata; "" when it is in attributes
	fsync   func(path string) error
	dirs    syncedDirs
}

func newDurable(s store, root, sidecar string) *durable {
	return &durable{store: s, root: root, sidecar: sidecar, fsync: fsync}
}

func (d *durable) PutObject(ctx context.Context, in s3response.PutObjectInput) (s3response.PutObjectOutput, error) {
	began := d.dirs.now()
	out, err := d.PutObjectWithPostFunc(ctx, in, (*os.File).Sync)
	if err != nil && in.IfMatch == nil && in.IfNoneMatch == nil {
		return out, err
	}
	// A rejected writer may find that the object is its own, written by an earlier
	// request without an answer, and treat it as acknowledged.
	if failed := ignoreMissing(d.sync(began, in.Bucket, in.Key)); failed != nil {
		return out, failed
	}
	return out, err
}

func (d *durable) CopyObject(ctx context.Context, in s3response.CopyObjectInput) (s3response.CopyObjectOutput, error) {
	began := d.dirs.now()
	out, err := d.store.CopyObject(ctx, in)
	if err != nil {
		return out, err
	}
	return out, ignoreMissing(d.sync(began, in.Bucket, in.Key))
}

// Operations that delete objects also remove directories that become empty.

func (d *durable) DeleteObject(ctx context.Context, in *awss3.DeleteObjectInput) (*awss3.DeleteObjectOutput, error) {
	defer d.dirs.removing()()
	return d.store.DeleteObject(ctx, in)
}

func (d *durable) DeleteObjects(ctx context.Context, in *awss3.DeleteObjectsInput) (s3response.DeleteResult, error) {
	defer d.dirs.removing()()
	return d.store.DeleteObjects(ctx, in)
}

func (d *durable) DeleteBucket(ctx context.Context, bucket string) error {
	defer d.dirs.removing()()
	return d.store.DeleteBucket(ctx, bucket)
}

// CreateBucket removes its directory again when it fails.
func (d *durable) CreateBucket(ctx context.Context, in *awss3.CreateBucketInput, acl []byte) error {
	defer d.dirs.removing()()
	return d.store.CreateBucket(ctx, in, acl)
}

// sync fsyncs an object that was written since began. It returns os.ErrNotExist when
// the object was deleted concurrently.
func (d *durable) sync(began epoch, bucket, key *string) error {
	if bucket == nil || key == nil {
		return errors.New("sync object: no bucket or key")
	}
	name := filepath.Join(*bucket, filepath.FromSlash(*key))
	if err := d.syncMetadata(name); err != nil {
		return err
	}
	path := filepath.Join(d.root, name)
	if err := d.fsync(path); err != nil {
		return err
	}
	var fresh []string
	for path != d.root {
		path = filepath.Dir(path)
		if err := d.fsync(path); err != nil {
			return err
		}
		if d.dirs.has(began, path) {
			break
		}
		fresh = append(fresh, path)
	}
	d.dirs.add(began, fresh)
	return nil
}

// syncMetadata fsyncs the metadata on a filesystem without attributes. Its files come
// first: an object without them would count as absent and be overwritten.
func (d *durable) syncMetadata(name string) error {
	if d.sidecar == "" {
		return nil
	}
	dir := filepath.Join(d.sidecar, name, "meta")
	files, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("read metadata of %s: %w", name, err)
	}
	for _, f := range files {
		if err := ignoreMissing(d.fsync(filepath.Join(dir, f.Name()))); err != nil { // temporary files disappear
			return err
		}
	}
	for ; dir != d.sidecar; dir = filepath.Dir(dir) {
		if err := d.fsync(dir); err != nil {
			return err
		}
	}
	return d.fsync(dir)
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

func fsync(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("fsync: %w", err)
	}
	return errors.Join(f.Sync(), f.Close())
}
