package upload_test

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

	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/upload"
)

func service(t *testing.T, key string, change ...func(*upload.Config)) (*upload.Service, *objstore.Mem, chan svc.Ref) {
	t.Helper()
	bucket, arrived := &objstore.Mem{}, make(chan svc.Ref, 8)
	c := upload.Config{
		Bucket: bucket, BaseURL: "http://127.0.0.1:1/v1", Key: []byte(key), MaxSize: 10,
		Versions: &versions{}, Logger: slog.New(slog.DiscardHandler), Arrived: func(r svc.Ref) { arrived <- r },
	}
	for _, do := range change {
		do(&c)
	}
	return upload.New(c), bucket, arrived
}

// versions is a registry in which every version fetches until it is given
// another status, or an error to be looked up with.
type versions struct {
	mu     sync.Mutex
	status svc.Status
	err    error
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
	return svc.Version{Ref: ref, Status: v.status}, v.err
}

// during is a body of three bytes at whose end something happens.
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

func issue(t *testing.T, s *upload.Service, ref svc.Ref) string {
	t.Helper()
	up, err := s.Issue(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(up.URL, "http://127.0.0.1:1/v1/uploads/")
}

func accept(t *testing.T, s *upload.Service, ticket, body string, size int64) string {
	t.Helper()
	_, err := s.Accept(t.Context(), ticket, strings.NewReader(body), size)
	return svc.CodeOf(err)
}

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

func TestRefused(t *testing.T) {
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

// A ticket is of no use any more when its version is not.
func TestVersionIsGone(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status svc.Status
		err    error
		kind   svc.Kind
		code   string
	}{
		"destroyed": {svc.StatusDestroyed, nil, svc.Gone, "version_destroyed"},
		"unknown":   {"", svc.Errorf(svc.NotFound, "version_not_found", "there is none"), svc.NotFound, "version_not_found"},
	} {
		known := &versions{}
		s, bucket, arrived := service(t, "k", func(c *upload.Config) { c.Versions = known })
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

// What cannot be looked up a second time, or not be removed, is in the log.
func TestSecondLookFails(t *testing.T) {
	t.Parallel()
	away := errors.New("it is away")
	for name, tc := range map[string]struct {
		status svc.Status
		err    error
		code   string
		log    string
	}{
		"registry": {"", away, "", "an upload was not looked after"},
		"store":    {svc.StatusDestroyed, nil, "version_destroyed", "the bundle of a destroyed version stays"},
	} {
		known, log := &versions{}, &strings.Builder{}
		s, _, _ := service(t, "k", func(c *upload.Config) {
			c.Versions, c.Bucket, c.Logger = known, stuck{c.Bucket, away}, slog.New(slog.NewTextHandler(log, nil))
		})
		_, err := s.Accept(t.Context(), issue(t, s, ref("v")), during(func() { known.set(tc.status, tc.err) }), 3)
		if svc.CodeOf(err) != tc.code && (err != nil || tc.code != "") {
			t.Errorf("%s: %v", name, err)
		}
		if text := log.String(); !strings.Contains(text, tc.log) || !strings.Contains(text, "it is away") {
			t.Errorf("%s: the log says %q", name, text)
		}
	}
}

// stuck is a bucket of which nothing can be removed.
type stuck struct {
	objstore.Bucket
	err error
}

func (s stuck) Delete(context.Context, ...string) error { return s.err }

func ref(version string) svc.Ref { return svc.Ref{Project: "p", Version: version} }

func TestExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _, _ := service(t, "k")
		ticket := issue(t, s, svc.Ref{Project: "p", Version: "v"})
		time.Sleep(16 * time.Minute) // in the bubble's time
		if code := accept(t, s, ticket, "x", 1); code != "upload_expired" {
			t.Errorf("code %s", code)
		}
	})
}
