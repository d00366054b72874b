package s3

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// Config is the address of an object store and the keys to sign for it.
type Config struct {
	Endpoint  string // http(s)://host[:port], or unix:/path of a socket
	Region    string // "us-east-1" when empty: self-hosted stores ignore it
	AccessKey string
	SecretKey svc.Secret
	// AnswerTimeout is how long the object store may take to begin an answer, 30 s
	// when 0. Then the request is sent again.
	AnswerTimeout time.Duration
	// Report, which may be nil, is called after every request with its operation and
	// result. It must not block.
	Report func(op, result string, took time.Duration)
}

// Store is one S3-compatible object store. Safe for concurrent use.
type Store struct {
	client *awss3.Client
}

// New checks c and makes a Store; it opens no connection.
func New(c Config) (*Store, error) {
	endpoint, transport, err := dial(c.Endpoint)
	if err != nil {
		return nil, err
	}
	transport.ResponseHeaderTimeout = cmp.Or(c.AnswerTimeout, 30*time.Second)
	c.Region = cmp.Or(c.Region, "us-east-1")
	return &Store{client: awss3.New(awss3.Options{
		BaseEndpoint: aws.String(endpoint),
		Region:       c.Region,
		UsePathStyle: true,
		HTTPClient:   &http.Client{Transport: c.counted(transport)},
		Credentials:  credentials.NewStaticCredentialsProvider(c.AccessKey, c.SecretKey.Reveal(), ""),
		// Other object stores than AWS reject unknown checksum trailers.
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
	})}, nil
}

func (c *Config) counted(t *http.Transport) http.RoundTripper {
	if c.Report == nil {
		return t
	}
	return counted{t, c.Report}
}

// EnsureBucket creates the bucket unless it exists.
func (s *Store) EnsureBucket(ctx context.Context, name string) error {
	_, err := s.client.CreateBucket(ctx, &awss3.CreateBucketInput{Bucket: &name})
	var owned *types.BucketAlreadyOwnedByYou
	var exists *types.BucketAlreadyExists
	if err == nil || errors.As(err, &owned) || errors.As(err, &exists) {
		return nil
	}
	if _, head := s.client.HeadBucket(ctx, &awss3.HeadBucketInput{Bucket: &name}); head == nil {
		return nil // it exists, but these keys may not create buckets
	}
	return fmt.Errorf("create bucket %s: %w", name, err)
}

// Ping returns an error unless the bucket answers.
func (s *Store) Ping(ctx context.Context, bucket string) error {
	if _, err := s.client.HeadBucket(ctx, &awss3.HeadBucketInput{Bucket: &bucket}); err != nil {
		return fmt.Errorf("ping bucket %s: %w", bucket, err)
	}
	return nil
}

// Bucket returns a bucket; prefix goes before every key.
func (s *Store) Bucket(name, prefix string) *Bucket {
	return &Bucket{client: s.client, name: name, prefix: prefix}
}

// Bucket is one bucket, or the part of it below a prefix.
type Bucket struct {
	client *awss3.Client
	name   string
	prefix string
}

var _ objstore.Bucket = (*Bucket)(nil)

// Put implements objstore.Bucket. A body that cannot seek, or whose size is unknown,
// goes through a temporary file: S3 needs its length and hash first.
func (b *Bucket) Put(ctx context.Context, key string, body io.Reader, size int64, cond objstore.Condition) (objstore.Info, error) {
	seeker, length, done, err := seekable(body, size)
	if err != nil {
		return objstore.Info{}, fmt.Errorf("put %s: %w", key, err)
	}
	defer done()
	in := &awss3.PutObjectInput{Bucket: &b.name, Key: b.key(key), Body: seeker, ContentLength: &length}
	if cond.IfAbsent {
		in.IfNoneMatch = aws.String("*")
	}
	if cond.IfMatch != "" {
		in.IfMatch = aws.String(cond.IfMatch)
	}
	out, err := b.client.PutObject(ctx, in)
	if err != nil {
		return objstore.Info{}, fmt.Errorf("put %s: %w", key, translate(err))
	}
	return objstore.Info{Key: key, Size: length, ETag: aws.ToString(out.ETag), Modified: time.Now()}, nil
}

// Get implements objstore.Bucket.
func (b *Bucket) Get(ctx context.Context, key string, off, n int64) (io.ReadCloser, objstore.Info, error) {
	in := &awss3.GetObjectInput{Bucket: &b.name, Key: b.key(key)}
	switch {
	case n == 0:
		info, err := b.Stat(ctx, key)
		return http.NoBody, info, err
	case n > 0:
		in.Range = aws.String(fmt.Sprintf("bytes=%d-%d", off, off+n-1))
	case off > 0:
		in.Range = aws.String(fmt.Sprintf("bytes=%d-", off))
	}
	out, err := b.client.GetObject(ctx, in)
	if err != nil {
		return nil, objstore.Info{}, fmt.Errorf("get %s: %w", key, translate(err))
	}
	info := objstore.Info{Key: key, Size: total(out), ETag: aws.ToString(out.ETag), Modified: aws.ToTime(out.LastModified)}
	return out.Body, info, nil
}

// total is the size of the whole object, also in an answer with a range.
func total(out *awss3.GetObjectOutput) int64 {
	var size int64
	if _, after, ok := strings.Cut(aws.ToString(out.ContentRange), "/"); ok {
		if _, err := fmt.Sscan(after, &size); err == nil {
			return size
		}
	}
	return aws.ToInt64(out.ContentLength)
}

// Stat implements objstore.Bucket.
func (b *Bucket) Stat(ctx context.Context, key string) (objstore.Info, error) {
	out, err := b.client.HeadObject(ctx, &awss3.HeadObjectInput{Bucket: &b.name, Key: b.key(key)})
	if err != nil {
		return objstore.Info{}, fmt.Errorf("stat %s: %w", key, translate(err))
	}
	return objstore.Info{Key: key, Size: aws.ToInt64(out.ContentLength), ETag: aws.ToString(out.ETag), Modified: aws.ToTime(out.LastModified)}, nil
}

// List implements objstore.Bucket.
func (b *Bucket) List(ctx context.Context, prefix, after string, limit int) ([]objstore.Info, error) {
	in := &awss3.ListObjectsV2Input{Bucket: &b.name, Prefix: b.key(prefix), MaxKeys: aws.Int32(int32(min(limit, 1000)))} //nolint:gosec // at most 1000
	if after != "" {
		in.StartAfter = b.key(after)
	}
	out, err := b.client.ListObjectsV2(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", prefix, translate(err))
	}
	page := make([]objstore.Info, 0, len(out.Contents))
	for _, o := range out.Contents {
		page = append(page, objstore.Info{
			Key:  strings.TrimPrefix(aws.ToString(o.Key), b.prefix),
			Size: aws.ToInt64(o.Size), ETag: aws.ToString(o.ETag), Modified: aws.ToTime(o.LastModified),
		})
	}
	return page, nil
}

// Delete implements objstore.Bucket with 1000 keys in a request.
func (b *Bucket) Delete(ctx context.Context, keys ...string) error {
	const batch = 1000
	for len(keys) > 0 {
		n := min(batch, len(keys))
		ids := make([]types.ObjectIdentifier, n)
		for i, key := range keys[:n] {
			ids[i].Key = b.key(key)
		}
		out, err := b.client.DeleteObjects(ctx, &awss3.DeleteObjectsInput{Bucket: &b.name, Delete: &types.Delete{Objects: ids, Quiet: aws.Bool(true)}})
		if err != nil {
			return fmt.Errorf("delete %d objects: %w", n, translate(err))
		}
		for _, e := range out.Errors {
			if aws.ToString(e.Code) != "NoSuchKey" {
				return fmt.Errorf("delete %s: %s", aws.ToString(e.Key), aws.ToString(e.Message))
			}
		}
		keys = keys[n:]
	}
	return nil
}

// PresignPut returns a URL that creates the object once, until it expires, without
// keys [D11]. The client must send the headers with it.
func (b *Bucket) PresignPut(ctx context.Context, key string, expires time.Duration) (url string, headers map[string]string, err error) {
	in := &awss3.PutObjectInput{Bucket: &b.name, Key: b.key(key), IfNoneMatch: aws.String("*")}
	req, err := awss3.NewPresignClient(b.client).PresignPutObject(ctx, in, awss3.WithPresignExpires(expires))
	if err != nil {
		return "", nil, fmt.Errorf("presign %s: %w", key, err)
	}
	headers = map[string]string{}
	for name, values := range req.SignedHeader {
		if !strings.EqualFold(name, "Host") {
			headers[name] = strings.Join(values, ", ")
		}
	}
	return req.URL, headers, nil
}

func (b *Bucket) key(k string) *string { return aws.String(b.prefix + k) }

// translate turns errors of the object store into those of objstore.
func translate(err error) error {
	var resp *smithyhttp.ResponseError
	if !errors.As(err, &resp) {
		return err
	}
	switch resp.HTTPStatusCode() {
	case http.StatusNotFound:
		return errors.Join(objstore.ErrNotExist, err)
	case http.StatusRequestedRangeNotSatisfiable:
		return errors.Join(objstore.ErrShort, err)
	case http.StatusPreconditionFailed:
		return errors.Join(objstore.ErrPrecondition, err)
	case http.StatusConflict: // concurrent conditional writes; the loser may retry
		return errors.Join(objstore.ErrPrecondition, err)
	default:
		return err
	}
}
