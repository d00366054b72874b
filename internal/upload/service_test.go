package upload_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/objstore"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/upload"
)

func service(t *testing.T, key string) (*upload.Service, *objstore.Mem, chan svc.Ref) {
	t.Helper()
	bucket, arrived := &objstore.Mem{}, make(chan svc.Ref, 8)
	return upload.New(upload.Config{
		Bucket: bucket, BaseURL: "http://127.0.0.1:1/v1", Key: []byte(key), MaxSize: 10,
		Arrived: func(r svc.Ref) { arrived <- r },
	}), bucket, arrived
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
	if left, _ := bucket.List(t.Context(), "", "", 10); len(left) != 0 {
		t.Errorf("refused uploads left %v", left)
	}
}

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
