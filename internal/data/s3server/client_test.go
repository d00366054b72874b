package s3server_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"github.com/svcctl/svcctl/internal/data/s3server"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// tool is a client like aws or rclone: the SDK with its defaults, checksums in trailers
// included, except for the endpoint and the path style.
type tool struct {
	*awss3.Client
	bucket *string
}

func newTool(t *testing.T, s *s3server.Server) tool {
	t.Helper()
	c := tool{awss3.New(awss3.Options{
		BaseEndpoint: aws.String(s.Endpoint()), Region: "us-east-1", UsePathStyle: true, HTTPClient: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}},
		Credentials: credentials.NewStaticCredentialsProvider(s.Keys().AccessKey, s.Keys().SecretKey.Reveal(), ""),
	}), aws.String("for-tools")}
	if _, err := c.CreateBucket(t.Context(), &awss3.CreateBucketInput{Bucket: c.bucket}); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c tool) put(t *testing.T, key string, body []byte) {
	t.Helper()
	if _, err := c.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: c.bucket, Key: &key, Body: bytes.NewReader(body)}); err != nil {
		t.Fatal(err)
	}
}

func (c tool) get(t *testing.T, key, ranged string) []byte {
	t.Helper()
	in := &awss3.GetObjectInput{Bucket: c.bucket, Key: &key, ChecksumMode: types.ChecksumModeEnabled}
	if ranged != "" {
		in.Range = &ranged
	}
	out, err := c.GetObject(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Body.Close()
	data, err := io.ReadAll(out.Body)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// keys lists as tools do: by pages, with folders.
func (c tool) keys(t *testing.T, prefix, delimiter string) (keys []string) {
	t.Helper()
	in := &awss3.ListObjectsV2Input{Bucket: c.bucket, Prefix: &prefix, Delimiter: &delimiter, MaxKeys: aws.Int32(3)}
	for pages := awss3.NewListObjectsV2Paginator(c.Client, in); pages.HasMorePages(); {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range page.Contents {
			keys = append(keys, *o.Key)
		}
		for _, p := range page.CommonPrefixes {
			keys = append(keys, *p.Prefix)
		}
	}
	return keys
}

// begin starts a multipart upload.
func (c tool) begin(t *testing.T, key string) *string {
	t.Helper()
	out, err := c.CreateMultipartUpload(t.Context(), &awss3.CreateMultipartUploadInput{Bucket: c.bucket, Key: &key})
	if err != nil {
		t.Fatal(err)
	}
	return out.UploadId
}

// parts uploads body concurrently and in any order, in parts of the minimum size.
func (c tool) parts(t *testing.T, key string, upload *string, body []byte) *types.CompletedMultipartUpload {
	t.Helper()
	chunks := slices.Collect(slices.Chunk(body, 5<<20))
	parts := make([]types.CompletedPart, len(chunks))
	var wg sync.WaitGroup
	for i, chunk := range chunks {
		wg.Go(func() {
			number := aws.Int32(int32(i + 1))
			out, err := c.UploadPart(t.Context(), &awss3.UploadPartInput{
				Bucket: c.bucket, Key: &key, UploadId: upload, PartNumber: number, Body: bytes.NewReader(chunk),
			})
			if err != nil {
				t.Errorf("part %d: %v", i+1, err)
				return
			}
			parts[i] = types.CompletedPart{PartNumber: number, ETag: out.ETag, ChecksumCRC32: out.ChecksumCRC32}
		})
	}
	wg.Wait()
	return &types.CompletedMultipartUpload{Parts: parts}
}

func (c tool) complete(ctx context.Context, key string, upload *string, parts *types.CompletedMultipartUpload) error {
	_, err := c.CompleteMultipartUpload(ctx, &awss3.CompleteMultipartUploadInput{
		Bucket: c.bucket, Key: &key, UploadId: upload, MultipartUpload: parts, IfNoneMatch: aws.String("*"),
	})
	return err
}

func code(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode()
	}
	return fmt.Sprint(err)
}

func noise(n int) []byte {
	data := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(n)}).Read(data)
	return data
}

// TestLargeFile uploads and downloads a large file as aws s3 cp and rclone copy do.
func TestLargeFile(t *testing.T) {
	t.Parallel()
	s := start(t)
	c, body := newTool(t, s), noise(12<<20)
	upload := c.begin(t, "large")
	parts := c.parts(t, "large", upload, body)
	if got := c.keys(t, "", ""); got != nil {
		t.Errorf("an unfinished upload is listed: %v", got)
	}
	if err := c.complete(t.Context(), "large", upload, parts); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(s.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	svctest.Succeeds(t, "the object store to answer", func() error {
		_, err := c.HeadObject(t.Context(), &awss3.HeadObjectInput{Bucket: c.bucket, Key: aws.String("large")})
		return err
	})
	if !bytes.Equal(c.get(t, "large", ""), body) {
		t.Error("downloaded another file")
	}
	const edge = 5 << 20
	if got := c.get(t, "large", fmt.Sprintf("bytes=%d-%d", edge-3, edge+2)); !bytes.Equal(got, body[edge-3:edge+3]) {
		t.Errorf("across two parts: %x", got)
	}
	if got := c.get(t, "large", "bytes=-5"); !bytes.Equal(got, body[len(body)-5:]) {
		t.Errorf("the tail: %x", got)
	}
	again := c.begin(t, "large")
	if err := c.complete(t.Context(), "large", again, c.parts(t, "large", again, body[:10])); code(err) != "PreconditionFailed" {
		t.Errorf("created over an object: %v", err)
	}
	if _, err := c.AbortMultipartUpload(t.Context(), &awss3.AbortMultipartUploadInput{Bucket: c.bucket, Key: aws.String("large"), UploadId: again}); err != nil {
		t.Error(err)
	}
	open, err := c.ListMultipartUploads(t.Context(), &awss3.ListMultipartUploadsInput{Bucket: c.bucket})
	if err != nil || len(open.Uploads) > 0 {
		t.Errorf("uploads in progress: %+v, %v", open, err)
	}
}

// TestFolders lists, copies and deletes as sync and recursive commands do.
func TestFolders(t *testing.T) {
	t.Parallel()
	c := newTool(t, start(t))
	all := []string{"dir/a b+é.txt", "dir/f1", "dir/f2", "dir/f3", "dir/sub/deep/empty", "dir/sub/x%20y", "other"}
	for _, key := range all {
		c.put(t, key, []byte(key)[:len(key)%5])
	}
	if got := c.keys(t, "", ""); !sameKeys(got, all) {
		t.Errorf("listed %q", got)
	}
	if got := c.keys(t, "dir/", "/"); !sameKeys(got, append(slices.Clone(all[:4]), "dir/sub/")) {
		t.Errorf("listed one folder: %q", got)
	}
	if _, err := c.CopyObject(t.Context(), &awss3.CopyObjectInput{Bucket: c.bucket, Key: aws.String("moved/f1"), CopySource: aws.String("for-tools/dir/f1")}); err != nil {
		t.Error(err)
	}
	if got := c.get(t, "moved/f1", ""); !bytes.Equal(got, c.get(t, "dir/f1", "")) {
		t.Errorf("copied %q", got)
	}
	ids := []types.ObjectIdentifier{{Key: aws.String("moved/f1")}, {Key: aws.String("never/there")}}
	for _, key := range all {
		ids = append(ids, types.ObjectIdentifier{Key: &key})
	}
	out, err := c.DeleteObjects(t.Context(), &awss3.DeleteObjectsInput{Bucket: c.bucket, Delete: &types.Delete{Objects: ids}})
	if err != nil || len(out.Errors) > 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	if got := c.keys(t, "", ""); got != nil {
		t.Errorf("left %q", got)
	}
	if _, err := c.DeleteBucket(t.Context(), &awss3.DeleteBucketInput{Bucket: c.bucket}); err != nil {
		t.Error(err)
	}
}

// sameKeys compares without order: folders come after the keys of their page.
func sameKeys(got, want []string) bool {
	got, want = slices.Clone(got), slices.Clone(want)
	slices.Sort(got)
	slices.Sort(want)
	return slices.Equal(got, want)
}

// TestLink downloads with a presigned URL.
func TestLink(t *testing.T) {
	t.Parallel()
	c := newTool(t, start(t))
	c.put(t, "shared", []byte("hello"))
	in := &awss3.GetObjectInput{Bucket: c.bucket, Key: aws.String("shared")}
	link, err := awss3.NewPresignClient(c.Client).PresignGetObject(t.Context(), in, awss3.WithPresignExpires(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]int{link.URL: http.StatusOK, strings.Replace(link.URL, "shared", "other", 1): http.StatusForbidden} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := (&http.Client{}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != want || want == http.StatusOK && string(body) != "hello" {
			t.Errorf("%d %q, %v", resp.StatusCode, body, err)
		}
	}
}

// TestUploadIDIsNotAPath: the library would remove the directory that such an id leads
// to.
func TestUploadIDIsNotAPath(t *testing.T) {
	t.Parallel()
	c := newTool(t, start(t))
	c.put(t, "shop/v1/kept", []byte("kept"))
	for _, id := range []string{"../../../shop", "..", ".", "a/../../../../shop"} {
		_, err := c.AbortMultipartUpload(t.Context(), &awss3.AbortMultipartUploadInput{Bucket: c.bucket, Key: aws.String("x"), UploadId: &id})
		var e smithy.APIError
		if !errors.As(err, &e) || e.ErrorCode() != "NoSuchUpload" {
			t.Errorf("abort %q: %v", id, err)
		}
	}
	if got := c.get(t, "shop/v1/kept", ""); string(got) != "kept" {
		t.Errorf("%q", got)
	}
}
