package daemon

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/branch"
	"github.com/svcctl/svcctl/internal/control"
	"github.com/svcctl/svcctl/internal/dirstore"
	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/s3"
)

// store plays an object store that has every bucket but one.
func store(t *testing.T, away *atomic.Value) *s3.Store {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		bucket, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		switch {
		case bucket == away.Load():
			http.Error(w, "<Error><Code>NoSuchBucket</Code></Error>", http.StatusNotFound)
		case r.Method == http.MethodGet:
			_, _ = w.Write([]byte("<ListBucketResult></ListBucketResult>"))
		}
	}))
	t.Cleanup(server.Close)
	s, err := s3.New(s3.Config{Endpoint: server.URL, AccessKey: "a", SecretKey: "s"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// newStorage has its manifests in a bucket of their own or, with dir, there.
func newStorage(t *testing.T, away *atomic.Value, dir string) *storage {
	t.Helper()
	o := &objects{store: store(t, away), probe: "artifacts"}
	s := &storage{objects: o, data: o.store.Bucket("runtime", ""), lag: func() error { return nil }}
	s.places = control.Storage{Data: control.Place{Bucket: "runtime"}, Manifests: control.Place{Bucket: "records", Prefix: "p/"}}
	var manifests objstore.Bucket = o.store.Bucket("records", "p/")
	if dir != "" {
		b, err := dirstore.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		manifests, s.places.Manifests = b, control.Place{Dir: dir}
	}
	var err error
	if s.health, err = s.inquiries(manifests); err != nil {
		t.Fatal(err)
	}
	return s
}

// expectPing wants exactly these to be named.
func expectPing(t *testing.T, s *storage, wants ...string) {
	t.Helper()
	err := s.Ping(t.Context())
	if (err == nil) != (len(wants) == 0) {
		t.Errorf("deep health says %v, want %q", err, wants)
		return
	}
	for _, name := range []string{"SVC_ARTIFACTS_BUCKET", "RUNTIME_BUCKET", "BRANCH_STORE", "host lease", "lag"} {
		if err != nil && strings.Contains(err.Error(), name+": ") != slices.Contains(wants, name) {
			t.Errorf("deep health says %v, want %q", err, wants)
		}
	}
}

// Each bucket that is away is found and named, and only that one.
func TestPingNamesTheBucket(t *testing.T) {
	t.Parallel()
	var away atomic.Value
	away.Store("none")
	s := newStorage(t, &away, "")
	expectPing(t, s)
	for bucket, name := range map[string]string{"artifacts": "SVC_ARTIFACTS_BUCKET", "runtime": "RUNTIME_BUCKET", "records": "BRANCH_STORE"} {
		away.Store(bucket)
		expectPing(t, s, name)
	}
	away.Store("none")
	s.lag = func() error { return errors.New("lag: far behind") }
	expectPing(t, s, "lag")
}

// A directory of manifests that was moved away, or is another one, is found.
func TestPingOfADirectory(t *testing.T) {
	t.Parallel()
	var away atomic.Value
	away.Store("none")
	dir := filepath.Join(t.TempDir(), "records")
	s := newStorage(t, &away, dir)
	expectPing(t, s)
	if err := os.Rename(dir, dir+"-moved"); err != nil {
		t.Fatal(err)
	}
	expectPing(t, s, "BRANCH_STORE")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	expectPing(t, s, "BRANCH_STORE")
	away.Store("runtime")
	expectPing(t, s, "BRANCH_STORE", "RUNTIME_BUCKET")
}

// A place that does not answer is named when the time is over, whatever it does
// with its context, and is asked once however often health is.
func TestPingWaitsForNoPlace(t *testing.T) {
	t.Parallel()
	var away atomic.Value
	away.Store("none")
	s := newStorage(t, &away, "")
	asked, back := atomic.Int32{}, make(chan struct{})
	s.health[2].ask = func(context.Context) error { asked.Add(1); <-back; return nil }
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		err := s.Ping(ctx)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "BRANCH_STORE: no answer") {
			t.Errorf("deep health says %v", err)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("it was asked %d times at once", n)
	}
	close(back)
	expectPing(t, s)
}

// readOnly takes no writes once it is full.
type readOnly struct {
	objstore.Mem

	full atomic.Bool
}

var errFull = errors.New("it is full")

func (r *readOnly) Put(ctx context.Context, key string, body io.Reader, size int64, c objstore.Condition) (objstore.Info, error) {
	if r.full.Load() {
		return objstore.Info{}, errFull
	}
	return r.Mem.Put(ctx, key, body, size, c)
}

// A lease that is not renewed any more is said to be old.
func TestPingOfTheLease(t *testing.T) {
	t.Parallel()
	const ttl = 200 * time.Millisecond
	var away atomic.Value
	away.Store("none")
	s, bucket := newStorage(t, &away, ""), new(readOnly)
	branches, err := branch.New(branch.Config{Data: bucket, LeaseTTL: ttl, Grace: time.Hour, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if s.lease, err = branches.Hold(t.Context(), branch.Owner{Host: "h", Session: "s"}); err != nil {
		t.Fatal(err)
	}
	defer func() { bucket.full.Store(false); _ = s.lease.Stop(context.WithoutCancel(t.Context())) }()
	s.places.Lease = 10 * time.Second // whatever this machine is busy with
	if s.health, err = s.inquiries(s.data); err != nil {
		t.Fatal(err)
	}
	expectPing(t, s)
	bucket.full.Store(true)
	s.places.Lease = ttl
	if s.health, err = s.inquiries(s.data); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * ttl)
	expectPing(t, s, "host lease")
}
