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

// durable fsyncs what the posix backend wrote before it is acknowledged: the
// object, its directory, and those above that were not known to be on the disk.
type durable struct {
	backend.Backend
	root  string
	fsync func(path string) error
	dirs  syncedDirs
}

func newDurable(b backend.Backend, root string) *durable {
	return &durable{Backend: b, root: root, fsync: fsync}
}

func (d *durable) PutObject(ctx context.Context, in s3response.PutObjectInput) (s3response.PutObjectOutput, error) {
	began := d.dirs.now()
	out, err := d.Backend.PutObject(ctx, in)
	if err != nil {
		return out, err
	}
	return out, d.sync(began, in.Bucket, in.Key)
}

func (d *durable) CompleteMultipartUpload(ctx context.Context, in *awss3.CompleteMultipartUploadInput) (s3response.CompleteMultipartUploadResult, string, error) {
	began := d.dirs.now()
	out, version, err := d.Backend.CompleteMultipartUpload(ctx, in)
	if err != nil {
		return out, version, err
	}
	return out, version, d.sync(began, in.Bucket, in.Key)
}

func (d *durable) CopyObject(ctx context.Context, in s3response.CopyObjectInput) (s3response.CopyObjectOutput, error) {
	began := d.dirs.now()
	out, err := d.Backend.CopyObject(ctx, in)
	if err != nil {
		return out, err
	}
	return out, d.sync(began, in.Bucket, in.Key)
}

// What deletes objects removes the directories that become empty.

func (d *durable) DeleteObject(ctx context.Context, in *awss3.DeleteObjectInput) (*awss3.DeleteObjectOutput, error) {
	defer d.dirs.removing()()
	return d.Backend.DeleteObject(ctx, in)
}

func (d *durable) DeleteObjects(ctx context.Context, in *awss3.DeleteObjectsInput) (s3response.DeleteResult, error) {
	defer d.dirs.removing()()
	return d.Backend.DeleteObjects(ctx, in)
}

func (d *durable) DeleteBucket(ctx context.Context, bucket string) error {
	defer d.dirs.removing()()
	return d.Backend.DeleteBucket(ctx, bucket)
}

// sync puts an object on the disk that was written since began.
func (d *durable) sync(began moment, bucket, key *string) error {
	if bucket == nil || key == nil {
		return errors.New("a write without bucket or key")
	}
	path := filepath.Join(d.root, *bucket, filepath.FromSlash(*key))
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

func fsync(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil // deleted by someone else meanwhile: nothing to keep
	}
	if err != nil {
		return fmt.Errorf("fsync: %w", err)
	}
	return errors.Join(f.Sync(), f.Close())
}
