package workerhost

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/host/workerd"
)

func TestTailLogs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if lines, err := TailLogs(filepath.Join(dir, "none"), 5); err != nil || len(lines) != 0 {
		t.Errorf("of a version that never ran: %v %v", lines, err)
	}
	l, err := openLog(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	const n = 1500
	for i := range n { // 5.6 MiB: two files
		l.Write(workerd.LogLine{Level: "log", Source: workerd.SourceConsole, Message: fmt.Sprint(i, strings.Repeat("é", 1900))})
	}
	for _, want := range []int{0, 1, 100, n} {
		lines, err := TailLogs(dir, want)
		if err != nil || len(lines) != want {
			t.Fatalf("%d lines of %d: %v", len(lines), want, err)
		}
		for i, line := range lines {
			if !strings.HasPrefix(line.Message, fmt.Sprint(n-want+i, "é")) || line.Time.IsZero() {
				t.Fatalf("line %d of %d is %.20s", i, want, line.Message)
			}
		}
	}

	// A host that died while it wrote; the next one continues.
	if _, err := l.file.WriteString(`{"level":"log","mess`); err != nil {
		t.Fatal(err)
	}
	if lines, err := TailLogs(dir, 1); err != nil || len(lines) != 1 || !strings.HasPrefix(lines[0].Message, fmt.Sprint(n-1)) {
		t.Errorf("after half a line: %v %v", lines, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l.Write(workerd.LogLine{Message: "dropped"})
	if l, err = openLog(dir, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	l.Write(workerd.LogLine{Level: "log", Message: "next"})
	if lines, err := TailLogs(dir, 1); err != nil || len(lines) != 1 || lines[0].Message != "next" {
		t.Errorf("after a restart: %v %v", lines, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// A log that cannot be written must not stop its writer, and is reopened.
func TestLogWithoutPlace(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "logs")
	var said strings.Builder
	l, err := openLog(dir, slog.New(slog.NewTextHandler(&said, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	l.size = maxLogFile
	l.Write(workerd.LogLine{Message: "lost"})
	l.Write(workerd.LogLine{Message: "lost"})
	if n := strings.Count(said.String(), "cannot be written"); n != 1 {
		t.Errorf("it was said %d times: %s", n, said.String())
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l.Write(workerd.LogLine{Message: "kept"})
	if lines, err := TailLogs(dir, 5); err != nil || len(lines) != 1 || lines[0].Message != "kept" {
		t.Errorf("%v %v", lines, err)
	}
}
