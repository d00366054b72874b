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
// object and every directory above it, since those may be new as well.
type durable struct {
	backend.Backend
	root string
}

func (d *durable) PutObject(ctx context.Context, in s3response.PutObjectInput) (s3response.PutObjectOutput, error) {
	out, err := d.Backend.PutObject(ctx, in)
	if err != nil {
		return out, err
	}
	return out, d.sync(in.Bucket, in.Key)
}

func (d *durable) CompleteMultipartUpload(ctx context.Context, in *awss3.CompleteMultipartUploadInput) (s3response.CompleteMultipartUploadResult, string, error) {
	out, version, err := d.Backend.CompleteMultipartUpload(ctx, in)
	if err != nil {
		return out, version, err
	}
	return out, version, d.sync(in.Bucket, in.Key)
}

func (d *durable) CopyObject(ctx context.Context, in s3response.CopyObjectInput) (s3response.CopyObjectOutput, error) {
	out, err := d.Backend.CopyObject(ctx, in)
	if err != nil {
		return out, err
	}
	return out, d.sync(in.Bucket, in.Key)
}

func (d *durable) sync(bucket, key *string) error {
	if bucket == nil || key == nil {
		return errors.New("a write without bucket or key")
	}
	top := filepath.Join(d.root, *bucket)
	path := filepath.Join(top, filepath.FromSlash(*key))
	if err := fsync(path); err != nil {
		return err
	}
	for path != top {
		path = filepath.Dir(path)
		if err := fsync(path); err != nil {
			return err
		}
	}
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
