package s3server

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/s3err"
	"github.com/versity/versitygw/s3response"
)

// Multipart uploads are for S3 tools: the platform makes none. Completing an upload
// detects a part that is missing after a power failure, but not one of zeros, so parts
// are fsynced.

func (d *durable) UploadPart(ctx context.Context, in *awss3.UploadPartInput) (*awss3.UploadPartOutput, error) {
	if err := checkUpload(in.UploadId); err != nil {
		return nil, err
	}
	return d.UploadPartWithPostFunc(ctx, in, (*os.File).Sync)
}

func (d *durable) UploadPartCopy(ctx context.Context, in *awss3.UploadPartCopyInput) (s3response.CopyPartResult, error) {
	if err := checkUpload(in.UploadId); err != nil {
		return s3response.CopyPartResult{}, err
	}
	out, err := d.store.UploadPartCopy(ctx, in)
	if err != nil {
		return out, err
	}
	object := fmt.Sprintf("%x", sha256.Sum256([]byte(*in.Key)))
	part := filepath.Join(d.root, *in.Bucket, posix.MetaTmpMultipartDir, object, *in.UploadId, strconv.Itoa(int(*in.PartNumber)))
	return out, ignoreMissing(d.fsync(part)) // it may be completed or aborted already
}

// CompleteMultipartUpload acknowledges only an object that exists: the backend accepts
// a repeated request while the first one still joins the parts.
func (d *durable) CompleteMultipartUpload(ctx context.Context, in *awss3.CompleteMultipartUploadInput) (s3response.CompleteMultipartUploadResult, string, error) {
	if err := checkUpload(in.UploadId); err != nil {
		return s3response.CompleteMultipartUploadResult{}, "", err
	}
	began := d.dirs.now()
	out, version, err := d.store.CompleteMultipartUpload(ctx, in)
	if err != nil {
		return out, version, err
	}
	err = d.sync(began, in.Bucket, in.Key)
	if errors.Is(err, os.ErrNotExist) {
		err = s3err.GetAPIError(s3err.ErrSlowDown)
	}
	return out, version, err
}

func (d *durable) AbortMultipartUpload(ctx context.Context, in *awss3.AbortMultipartUploadInput) error {
	if err := checkUpload(in.UploadId); err != nil {
		return err
	}
	return d.store.AbortMultipartUpload(ctx, in)
}

func (d *durable) ListParts(ctx context.Context, in *awss3.ListPartsInput) (s3response.ListPartsResult, error) {
	if err := checkUpload(in.UploadId); err != nil {
		return s3response.ListPartsResult{}, err
	}
	return d.store.ListParts(ctx, in)
}

// checkUpload rejects an invalid upload id: the backend makes a path of it.
func checkUpload(id *string) error {
	if id == nil || *id == "" || *id == ".." || *id != filepath.Base(*id) {
		return s3err.GetNoSuchUploadErr("")
	}
	return nil
}
