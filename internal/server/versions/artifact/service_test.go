package artifact_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/data/memstore"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/objstore/objstoretest"
	"github.com/svcctl/svcctl/internal/server/versions/artifact"
	"github.com/svcctl/svcctl/internal/svc"
)

func service(t *testing.T, key string, change ...func(*artifact.Config)) (*artifact.Service, *memstore.Bucket, chan svc.Ref) {
	t.Helper()
	bucket, arrived := &memstore.Bucket{}, make(chan svc.Ref, 8)
	c := artifact.Config{
		Bucket: bucket, BaseURL: "http://127.0.0.1:1/v1", Key: []byte(key), MaxSize: 10,
		Versions: &versions{}, Logger: slog.New(slog.DiscardHandler), Arrived: func(r svc.Ref) { arrived <- r },
	}
	for _, do := range change {
		do(&c)
	}
	return artifact.New(c), bucket, arrived
}

// versions is a fake registry: every version has the status fetching until set.
type versions struct {
	mu     sync.Mutex
	status svc.Status
	err    error
	reason string // why it failed
}

func (v *versions) set(status svc.Status, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.status, v.err = status, err
}

func (v *versions) Version(ctx context.Context, ref svc.Ref) (svc.Version, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return svc.Version{}, err
	}
	return svc.Version{Ref: ref, Status: v.status, Error: v.reason}, v.err
}

// during returns a body of three bytes that calls do at its end.
func during(do func()) io.Reader {
	return io.MultiReader(strings.NewReader("abc"), readerFunc(func([]byte) (int, error) { do(); return 0, io.EOF }))
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func wantEmpty(t *testing.T, b objstore.Bucket) {
	t.Helper()
	if left, err := b.List(t.Context(), "", "", 10); err != nil || len(left) != 0 {
		t.Errorf("left in the bucket: %v, %v", left, err)
	}
}

func issue(t *testing.T, s *artifact.Service, ref svc.Ref) string {
	t.Helper()
	up, err := s.Issue(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(up.URL, "http://127.0.0.1:1/v1/uploads/")
}

func accept(t *testing.T, s *artifact.Service, ticket, body string, size int64) string {
	t.Helper()
	_, err := s.Accept(t.Context(), ticket, strings.NewReader(body), size)
	return svc.CodeOf(err)
}

// spec: [C4.15]
func TestOnce(t *testing.T) {
	t.Parallel()
	s, bucket, arrived := service(t, "k")
	ref := svc.Ref{Project: "p", Version: "v"}
	ticket := issue(t, s, ref)
	receipt, err := s.Accept(t.Context(), ticket, strings.NewReader("abc"), -1)
	if err != nil {
		t.Fatal(err)
	}
	if want := "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"; receipt.Digest != want || receipt.Size != 3 {
		t.Errorf("receipt %+v", receipt)
	}
	if got := <-arrived; got != ref {
		t.Errorf("arrived: %v", got)
	}
	if info, err := bucket.Stat(t.Context(), "p/v/bundle.tar.zst"); err != nil || info.Size != 3 {
		t.Errorf("%+v, %v", info, err)
	}
	if code := accept(t, s, ticket, "other", 5); code != "already_uploaded" {
		t.Errorf("again: %s", code)
	}
}

func TestAcceptErrors(t *testing.T) {
	t.Parallel()
	s, bucket, _ := service(t, "k")
	other, _, _ := service(t, "another key")
	ref := svc.Ref{Project: "p", Version: "v"}
	good := issue(t, s, ref)
	for name, tc := range map[string]struct {
		ticket, body string
		size         int64
		code         string
	}{
		"empty":            {"", "x", 1, "upload_invalid"},
		"other key":        {issue(t, other, ref), "x", 1, "upload_invalid"},
		"other claim":      {"cC92LzE" + good[strings.Index(good, "."):], "x", 1, "upload_invalid"},
		"announced large":  {good, "x", 11, "bundle_too_large"},
		"large by reading": {good, "12345678901", -1, "bundle_too_large"},
		"short":            {good, "123", 5, "upload_failed"},
	} {
		if code := accept(t, s, tc.ticket, tc.body, tc.size); code != tc.code {
			t.Errorf("%s: %s, want %s", name, code, tc.code)
		}
	}
	wantEmpty(t, bucket)
}

// TestEmptyUpload: an empty body leaves the ticket valid.
func TestEmptyUpload(t *testing.T) {
	t.Parallel()
	s, bucket, _ := service(t, "k")
	ticket := issue(t, s, svc.Ref{Project: "p", Version: "v"})
	for _, size := range []int64{0, -1} {
		if code := accept(t, s, ticket, "", size); code != "upload_empty" {
			t.Errorf("size %d: %s", size, code)
		}
	}
	wantEmpty(t, bucket)
	if code := accept(t, s, ticket, "abc", 3); code != "" {
		t.Errorf("after it: %s", code)
	}
}

// TestVersionEnded: a ticket is invalid when its version has ended.
func TestVersionEnded(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status svc.Status
		err    error
		kind   svc.Kind
		code   string
	}{
		"destroyed": {svc.StatusDestroyed, nil, svc.Gone, "version_destroyed"},
		"failed":    {svc.StatusFailed, nil, svc.Conflict, "version_failed"},
		"unknown":   {"", svc.Errorf(svc.NotFound, "version_not_found", "unknown version"), svc.NotFound, "version_not_found"},
	} {
		known := &versions{}
		s, bucket, arrived := service(t, "k", func(c *artifact.Config) { c.Versions = known })
		gone := func() { known.set(tc.status, tc.err) }
		refused := func(when string, err error) {
			t.Helper()
			if !errors.Is(err, tc.kind) || svc.CodeOf(err) != tc.code {
				t.Errorf("%s %s: %v", name, when, err)
			}
			wantEmpty(t, bucket)
		}
		before, within, left := issue(t, s, ref("v1")), issue(t, s, ref("v2")), issue(t, s, ref("v3"))
		_, err := s.Accept(t.Context(), within, during(gone), 3)
		refused("during the upload", err)
		known.set(svc.StatusFetching, nil)
		client, leave := context.WithCancel(t.Context())
		_, err = s.Accept(client, left, during(func() { gone(); leave() }), 3)
		refused("and the client has left", err)
		_, err = s.Accept(t.Context(), before, strings.NewReader("abc"), 3)
		refused("before", err)
		if len(arrived) != 0 {
			t.Errorf("%s: %v arrived", name, <-arrived)
		}
	}
}

// TestReadDuringUpload: a deploy may read the bundle, and fail because of it, before the
// upload returns. The upload has succeeded.
func TestReadDuringUpload(t *testing.T) {
	t.Parallel()
	for reason, code := range map[string]string{
		"fetching: bundle_invalid: no manifest":     "",
		"fetching: artifact_missing: nothing in 1m": "version_failed",
	} {
		known := &versions{}
		s, _, _ := service(t, "k", func(c *artifact.Config) { c.Versions = known })
		known.reason = reason
		_, err := s.Accept(t.Context(), issue(t, s, ref("v1")), during(func() { known.set(svc.StatusFailed, nil) }), 3)
		if svc.CodeOf(err) != code {
			t.Errorf("%s: %v, want %q", reason, err, code)
		}
	}
}

// TestSecondCheckFails: failures of the second check and of the delete are logged.
func TestSecondCheckFails(t *testing.T) {
	t.Parallel()
	away := errors.New("it is down")
	for name, tc := range map[string]struct {
		status svc.Status
		err    error
		code   string
		log    string
	}{
		"registry": {"", away, "", "checking the version of an upload failed"},
		"store":    {svc.StatusDestroyed, nil, "version_destroyed", "deleting the bundle of an ended version failed"},
	} {
		known, log := &versions{}, &strings.Builder{}
		s, _, _ := service(t, "k", func(c *artifact.Config) {
			c.Versions, c.Logger = known, slog.New(slog.NewTextHandler(log, nil))
			c.Bucket = objstoretest.Fail(c.Bucket, func(op objstoretest.Op, _ string) error {
				if op == objstoretest.Delete {
					return away
				}
				return nil
			})
		})
		_, err := s.Accept(t.Context(), issue(t, s, ref("v")), during(func() { known.set(tc.status, tc.err) }), 3)
		if svc.CodeOf(err) != tc.code && (err != nil || tc.code != "") {
			t.Errorf("%s: %v", name, err)
		}
		if text := log.String(); !strings.Contains(text, tc.log) || !strings.Contains(text, "it is down") {
			t.Errorf("%s: the log is %q", name, text)
		}
	}
}

func ref(version string) svc.Ref { return svc.Ref{Project: "p", Version: version} }

func TestExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _, _ := service(t, "k")
		ticket := issue(t, s, svc.Ref{Project: "p", Version: "v"})
		time.Sleep(16 * time.Minute) // synctest time
		if code := accept(t, s, ticket, "x", 1); code != "upload_expired" {
			t.Errorf("code %s", code)
		}
	})
}
