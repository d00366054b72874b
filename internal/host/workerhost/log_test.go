package workerhost

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/lib/ring"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// lines reads the whole log in dir.
func lines(t *testing.T, dir string) (list []svc.LogLine) {
	t.Helper()
	r := ring.NewReader(dir, svc.LogsOfWorker, 0)
	defer r.Close()
	for {
		_, data, ok, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return list
		}
		line, ok := svc.ParseLog(data)
		if !ok {
			t.Fatalf("%s", data)
		}
		list = append(list, line)
	}
}

// TestLogHidesSecrets covers values of the environment, credentials and long lines, and
// a host that continues the log of an earlier one.
func TestLogHidesSecrets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "worker.log"), []byte("old\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		l, err := openLog(dir, map[string]string{"API_KEY": "hunter2-token"}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		l.Write(workerd.LogLine{Level: "log", Source: workerd.SourceConsole, Message: fmt.Sprint(i, " key=hunter2-token, Authorization: Bearer abc4efghijk, https://me:secret@host/")})
		l.Write(workerd.LogLine{Level: "log", Source: workerd.SourceConsole, Message: strings.Repeat("é", svc.MaxLogText)})
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		l.Write(workerd.LogLine{Message: "dropped"})
	}
	got := lines(t, dir)
	if len(got) != 4 || got[2].Message != "1 key=***API_KEY***, Authorization: Bearer ***, https://***@host/" || got[2].Time.IsZero() {
		t.Errorf("%+v", got)
	}
	if !strings.HasSuffix(got[3].Message, fmt.Sprintf("é … (%d more bytes)", svc.MaxLogText)) {
		t.Errorf("ends with %q", got[3].Message[len(got[3].Message)-40:])
	}
	if _, err := os.Stat(filepath.Join(dir, "worker.log")); err == nil {
		t.Error("the log of an earlier release stays")
	}
}

// TestLogThatCannotBeWritten: the writer is not stopped, and the reason is logged once.
func TestLogThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var said svctest.Buffer
	l, err := openLog(dir, nil, slog.New(slog.NewTextHandler(&said, nil)))
	if err != nil {
		t.Fatal(err)
	}
	first := filepath.Join(dir, fmt.Sprintf("%s-%020d.jsonl", svc.LogsOfWorker, 1))
	if err := os.Mkdir(first, 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		l.Write(workerd.LogLine{Message: "lost"})
		_ = l.ring.Flush() // or the timer of the ring did it before, and this waited for it
	}
	if n := strings.Count(said.String(), "cannot be written"); n != 1 {
		t.Errorf("it was said %d times: %s", n, said.String())
	}
	if err := os.Remove(first); err != nil {
		t.Fatal(err)
	}
	l.Write(workerd.LogLine{Level: "log", Source: workerd.SourceConsole, Message: "kept"})
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if got := lines(t, dir); len(got) != 1 || got[0].Message != "kept" {
		t.Errorf("%+v", got)
	}
}
