// Package s3test gives tests a real object store: the embedded one, as a child
// process, or with SVC_TEST_STORE=external the one that S3_ENDPOINT,
// S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY and S3_REGION name (make test-s3).
package s3test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/s3"
	"github.com/svcctl/svcctl/internal/s3server"
	"github.com/svcctl/svcctl/internal/svc"
)

// childArg makes a test binary the embedded store.
const childArg = "run-the-object-store"

// Main is the TestMain of packages that use Target: it runs the tests, or the
// embedded store when the test binary is its child.
func Main(m *testing.M) {
	if len(os.Args) != 2 || os.Args[1] != childArg {
		os.Exit(m.Run()) //nolint:forbidigo // this is main
	}
	if err := s3server.Run(context.Background(), os.Stdin); err != nil { //nolint:forbidigo // this is main
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:forbidigo // this is main
	}
	os.Exit(0) //nolint:forbidigo // this is main
}

// Command is what starts a test binary with Main as the embedded store.
func Command() []string { return []string{os.Args[0], childArg} }

// External says whether tests run against a store that they did not start.
func External() bool { return os.Getenv("SVC_TEST_STORE") == "external" } //nolint:forbidigo // a switch of tests

// Target is the store to test with.
func Target(t testing.TB) s3.Config {
	t.Helper()
	if !External() {
		return embedded(t)
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

// embedded starts the object store that ships with the program.
func embedded(t testing.TB) s3.Config {
	t.Helper()
	dir, err := os.MkdirTemp("", "s3") //nolint:usetesting // short: it holds a unix socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // the store has ended
	srv, err := s3server.New(s3server.Config{
		Dir: filepath.Join(dir, "store"), Socket: filepath.Join(dir, "s3.sock"), Address: "127.0.0.1:0",
		Command: Command(), Logger: slog.New(slog.DiscardHandler),
	})
	if err == nil {
		err = srv.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Stop)
	return s3.Config{Endpoint: srv.Endpoint(), AccessKey: srv.Keys().AccessKey, SecretKey: srv.Keys().SecretKey}
}

// BucketName is the bucket tests use; S3_BUCKET names another.
func BucketName() string {
	if name := os.Getenv("S3_BUCKET"); name != "" && External() { //nolint:forbidigo // as above
		return name
	}
	return "svcctl-test"
}

// Bucket is a part of a bucket of the store that nobody else has. It is emptied
// when the test ends. The prefix of its keys in the bucket comes with it.
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
	if External() { // the embedded one goes as a whole
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
