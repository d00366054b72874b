package obs_test

import (
	"bytes"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/obs"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestJournal: a line becomes a record with fields; one that is too long for the journal, and
// all without a journal, are JSON on the other output.
func TestJournal(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(svctest.ShortDir(t), "journal")
	server, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	var rest bytes.Buffer
	logger := obs.NewJournalLogger(t.Context(), socket, &rest, slog.LevelInfo)
	logger.Error("deploy failed", "project", "shop", "error", "line 1\nline 2", "retry_in", 3)
	record := make([]byte, 1<<16)
	n, err := server.Read(record)
	if err != nil {
		t.Fatal(err)
	}
	const message = "deploy failed error=line 1\nline 2 project=shop retry_in=3"
	want := "SVC_ERROR\n\x0d\x00\x00\x00\x00\x00\x00\x00line 1\nline 2\nSVC_PROJECT=shop\nSVC_RETRY_IN=3\n" +
		"MESSAGE\n" + string(rune(len(message))) + "\x00\x00\x00\x00\x00\x00\x00" + message + "\nPRIORITY=3\nSYSLOG_IDENTIFIER=svcd\n"
	if got := string(record[:n]); got != want || rest.Len() > 0 {
		t.Errorf("%q, want %q; the rest has %q", got, want, &rest)
	}
	long := strings.Repeat("x", 1<<20)
	logger.Warn("long", "text", long)
	if !strings.Contains(rest.String(), `"text":"`+long+`"`) {
		t.Errorf("the rest has %d bytes", rest.Len())
	}
	rest.Reset()
	obs.NewJournalLogger(t.Context(), socket+"-none", &rest, slog.LevelInfo).Info("without a journal")
	if !strings.Contains(rest.String(), `"msg":"without a journal"`) {
		t.Errorf("%s", &rest)
	}
}
