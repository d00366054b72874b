package dev

import (
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// A port that is taken: the user reads which program has it, and which port is used instead.
func TestListenElsewhere(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // it is one
	log := slog.New(slog.DiscardHandler)
	by := "another program"
	if runtime.GOOS == "linux" {
		by = "(process " + strconv.Itoa(os.Getpid()) + ")"
	}

	a, err := listen(t.Context(), portFlag{"--port", port, true}, http.NotFoundHandler(), log)
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	if want := "port " + strconv.Itoa(port) + " is used by "; !strings.HasPrefix(a.instead, want) || !strings.Contains(a.instead, by) ||
		!strings.HasSuffix(a.instead, ": using "+strconv.Itoa(a.port)) {
		t.Errorf("%q, want %q and the port %d", a.instead, by, a.port)
	}
	if _, err := listen(t.Context(), portFlag{"--port", port, false}, http.NotFoundHandler(), log); err == nil || !strings.Contains(err.Error(), by) {
		t.Errorf("a port that the user chose: %v", err)
	}
	free, err := listen(t.Context(), portFlag{"--port", 0, true}, http.NotFoundHandler(), log)
	if err != nil || free.instead != "" {
		t.Fatalf("a free port: %v, %q", err, free.instead)
	}
	free.close()
}
