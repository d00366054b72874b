package daemon

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/data/s3"
	"github.com/svcctl/svcctl/internal/svc"
)

// fakeS3 returns an object store with all buckets but one.
func fakeS3(t *testing.T, away *atomic.Value) *s3.Store {
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

// TestChecks: the error names the setting of each missing bucket.
// spec: [C4.16] [C11.4]
func TestChecks(t *testing.T) {
	t.Parallel()
	var away atomic.Value
	away.Store("none")
	store := fakeS3(t, &away)
	o := ownership{
		objects: &objectStore{store: store, probe: "artifacts"},
		data:    store.Bucket("runtime", ""), manifests: store.Bucket("records", "p/"),
		places: svc.Storage{Data: svc.Place{Bucket: "runtime"}, Manifests: svc.Place{Bucket: "records", Prefix: "p/"}},
	}
	behind := svc.Runtime{State: svc.RuntimeServing}
	checks, err := o.checks(&config.Daemon{}, func() []svc.Runtime { return []svc.Runtime{behind} })
	if err != nil {
		t.Fatal(err)
	}
	expect := func(names ...string) {
		t.Helper()
		err := checks.Ping(t.Context())
		for _, check := range checks {
			named := err != nil && strings.Contains(err.Error(), check.Name+": ")
			if named != slices.Contains(names, check.Name) {
				t.Errorf("deep health is %v, want %q", err, names)
			}
		}
	}
	expect()
	for bucket, name := range map[string]string{"artifacts": "SVC_ARTIFACTS_BUCKET", "runtime": "RUNTIME_BUCKET", "records": "BRANCH_STORE"} {
		away.Store(bucket)
		expect(name)
	}
	away.Store("none")
	behind.Behind = 1e12
	expect("writes")
}
