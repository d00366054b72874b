package s3test

import (
	"context"
	"crypto/rand"
	"maps"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/s3"
	"github.com/svcctl/svcctl/internal/data/s3server"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// role is the role of the test binary as the embedded object store.
const role = "object-store"

// Main is the TestMain of packages that use [Target] or [Start], see
// [svctest.Main]. more are the package's own roles.
func Main(m *testing.M, more map[string]svctest.Role, options ...goleak.Option) {
	roles := map[string]svctest.Role{role: func(ctx context.Context, _ []string) error { return s3server.Run(ctx, os.Stdin) }}
	maps.Copy(roles, more)
	svctest.Main(m, roles, options...)
}

// Command is the command of a test binary with [Main] as the embedded object store.
func Command() []string { return svctest.Command(role) }

// External reports whether tests run against an object store that they did not start.
func External() bool { return os.Getenv("SVC_TEST_STORE") == "external" } //nolint:forbidigo // a switch of tests

// Target is the object store to test with.
func Target(t testing.TB) s3.Config {
	t.Helper()
	if !External() {
		return configOf(serve(t, Command()))
	}
	//nolint:forbidigo // tests read them as internal/config does
	c := s3.Config{
		Endpoint: os.Getenv("S3_ENDPOINT"), Region: os.Getenv("S3_REGION"),
		AccessKey: os.Getenv("S3_ACCESS_KEY_ID"), SecretKey: svc.Secret(os.Getenv("S3_SECRET_ACCESS_KEY")),
	}
	if c.Endpoint == "" || c.AccessKey == "" || c.SecretKey == "" {
		t.Fatal("SVC_TEST_STORE=external needs S3_ENDPOINT, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY")
	}
	return c
}

// BucketName is the bucket of the tests; S3_BUCKET names another.
func BucketName() string {
	if name := os.Getenv("S3_BUCKET"); name != "" && External() { //nolint:forbidigo // as above
		return name
	}
	return "svcctl-test"
}

// Bucket returns a part of a bucket for one test alone, and its prefix in the bucket.
// It is emptied when the test ends.
func Bucket(t testing.TB, c s3.Config) (b *s3.Bucket, prefix string) {
	t.Helper()
	store, err := s3.New(c)
	if err == nil {
		err = store.EnsureBucket(t.Context(), BucketName())
	}
	if err != nil {
		t.Fatal(err)
	}
	prefix = strings.ToLower(rand.Text()) + "/"
	b = store.Bucket(BucketName(), prefix)
	if External() { // the embedded one is deleted as a whole
		t.Cleanup(func() { empty(t, b) })
	}
	return b, prefix
}

func empty(t testing.TB, b *s3.Bucket) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	infos, err := objstore.ListAll(ctx, b, "")
	keys := make([]string, len(infos))
	for i, info := range infos {
		keys[i] = info.Key
	}
	if err == nil {
		err = b.Delete(ctx, keys...)
	}
	if err != nil {
		t.Errorf("empty the bucket: %v", err)
	}
}
