package accesslog_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/edge/accesslog"
	"github.com/svcctl/svcctl/internal/svc"
)

func entry() *accesslog.Entry {
	return &accesslog.Entry{
		Time: time.Date(2026, 11, 23, 1, 2, 3, 0, time.UTC), Client: "192.0.2.7", Host: "shop.apps.test", Method: "GET",
		Target: "/a?token=secret", Minor: 1, Status: 200, Bytes: 512, Duration: 1500 * time.Microsecond,
		Referer: "https://x.test/\"\n", Agent: "curl/8 é", Ref: svc.Ref{Project: "shop", Version: "v1"}, ID: "1f",
	}
}

func TestFormats(t *testing.T) {
	t.Parallel()
	for format, want := range map[accesslog.Format]string{
		accesslog.JSON: `{"time":"2026-11-23T01:02:03Z","client":"192.0.2.7","host":"shop.apps.test","method":"GET","path":"/a?token=***","status":200,"bytes":512,"duration_ms":1.5,` +
			`"project":"shop","version":"v1","request_id":"1f","referer":"https://x.test/\"\n","user_agent":"curl/8 é"}` + "\n",
		accesslog.Combined: `192.0.2.7 - - [23/Nov/2026:01:02:03 +0000] "GET /a?token=*** HTTP/1.1" 200 512 "https://x.test/\"\x0a" "curl/8 \xc3\xa9"` + "\n",
	} {
		path := filepath.Join(t.TempDir(), "access.log")
		l, err := accesslog.Open(t.Context(), path, format, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		l.Record(entry())
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if got := read(t, path); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", format, got, want)
		}
	}
}

// No line is lost or written twice when a program moves the file away.
func TestReopen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "access.log")
	l, err := accesslog.Open(t.Context(), path, accesslog.Combined, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	l.Record(entry())
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	l.Record(entry())
	if err := l.Reopen(); err != nil {
		t.Fatal(err)
	}
	l.Record(entry())
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if n, m := strings.Count(read(t, path+".1"), "\n"), strings.Count(read(t, path), "\n"); n != 2 || m != 1 {
		t.Errorf("%d lines in the file before, %d in the new one; want 2 and 1", n, m)
	}
}

func TestOpenNamesTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "absent", "access.log")
	if _, err := accesslog.Open(t.Context(), path, accesslog.JSON, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v", err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
