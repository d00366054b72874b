package load_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/bench/internal/load"
)

func serve(t *testing.T, status int, body string) load.Target {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != "worker.test" {
			status = http.StatusMisdirectedRequest
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return load.Target{Network: "tcp", Address: server.Listener.Addr().String(), Host: "worker.test"}
}

func TestRun(t *testing.T) {
	t.Parallel()
	target := serve(t, http.StatusOK, "Hello"+strings.Repeat(" again", 100))
	r, err := load.Run(t.Context(), load.Window{Target: target, Path: "/", Expect: "Hello again", Conns: 4, For: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if r.Requests <= 0 || r.PerSecond <= 0 || r.Median <= 0 || r.P99 < r.Median {
		t.Errorf("measured %+v", r)
	}
}

func TestRunRefusesWrongAnswers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, body string
		status     int
	}{
		{"status", "Hello", http.StatusBadGateway},
		{"body", "Bye", http.StatusOK},
		{"no length", strings.Repeat("Hello", 10_000), http.StatusOK},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := load.Window{Target: serve(t, tt.status, tt.body), Path: "/", Expect: "Hello", Conns: 1}
			if _, err := load.Run(t.Context(), w); err == nil {
				t.Error("measured in spite of it")
			}
		})
	}
}
