package binding_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// serveBench is a process that serves on a socket until its input ends: with Server,
// or with that of net/http.
func serveBench(ctx context.Context, args []string) error {
	debug.SetGCPercent(50) // as in a runtime host
	l, err := new(net.ListenConfig).Listen(ctx, "unix", args[1])
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	go func() {
		if args[0] == "own" {
			failed <- binding.NewServer(http.HandlerFunc(answer), slog.New(slog.DiscardHandler)).Serve(ctx, l)
		} else {
			failed <- http.Serve(l, http.HandlerFunc(answer))
		}
	}()
	ended := make(chan struct{})
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); close(ended) }()
	fmt.Println("READY")
	select {
	case err := <-failed:
		return err
	case <-ended:
		return nil
	}
}

// answer is a KV get of 1 KB, or a small statement for a database.
func answer(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		binding.Reply(w, "application/octet-stream", value)
		return
	}
	var q struct {
		SQL    string `json:"sql"`
		Params []any  `json:"params"`
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		binding.Fail(w, http.StatusBadRequest, err.Error())
		return
	}
	if err := binding.WriteJSON(w, map[string]any{"success": true, "results": q.Params, "meta": map[string]any{"duration": 0.1, "changes": 0}}); err != nil {
		binding.Fail(w, http.StatusInternalServerError, err.Error())
	}
}

var value = bytes.Repeat([]byte("v"), 1<<10)

// BenchmarkServer compares Server with the one of net/http, each in a process of its
// own, asked over unix sockets by four connections. cpu-ns/op is of the server alone.
func BenchmarkServer(b *testing.B) {
	const query = `{"sql":"SELECT * FROM users WHERE id = ? AND name = ?","params":[7,"ada"]}`
	requests := map[string]string{
		"kv-get": "GET /key HTTP/1.1\r\nHost: fake-host\r\nSvc-Binding: kv/ns\r\n\r\n",
		"d1-post": "POST /query HTTP/1.1\r\nHost: d1\r\nSvc-Binding: database/db\r\nContent-Type: application/json\r\nContent-Length: " +
			strconv.Itoa(len(query)) + "\r\n\r\n" + query,
	}
	for name, request := range requests {
		for _, kind := range []string{"own", "net-http"} {
			b.Run(name+"/server="+kind, func(b *testing.B) { benchmarkServer(b, kind, request) })
		}
	}
}

func benchmarkServer(b *testing.B, kind, request string) {
	b.Helper()
	const conns = 4
	socket := filepath.Join(svctest.ShortDir(b), "s")
	server := svctest.Start(b, "bench-server", kind, socket)
	server.Await(b, "READY")
	b.ResetTimer()
	var work sync.WaitGroup
	for range conns {
		work.Go(func() { askRaw(b, socket, request, (b.N+conns-1)/conns) })
	}
	work.Wait()
	b.StopTimer()
	server.CloseStdin()
	server.Result(b)
	cpu := server.State().UserTime() + server.State().SystemTime()
	b.ReportMetric(float64(cpu.Nanoseconds())/float64(b.N), "cpu-ns/op")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
}

// askRaw sends a request n times over one connection, as cheaply as it can be.
func askRaw(b *testing.B, socket, request string, n int) {
	b.Helper()
	conn, err := new(net.Dialer).DialContext(b.Context(), "unix", socket)
	if err != nil {
		b.Error(err)
		return
	}
	defer conn.Close()
	r := bufio.NewReader(conn)
	for range n {
		_, _ = io.WriteString(conn, request)
		length := -1
		for {
			line, err := r.ReadSlice('\n')
			if err != nil {
				b.Error(err)
				return
			}
			if len(line) == 2 {
				break
			}
			if v, ok := strings.CutPrefix(string(line), "Content-Length: "); ok {
				length, _ = strconv.Atoi(strings.TrimSpace(v))
			}
		}
		if _, err := r.Discard(length); err != nil {
			b.Error(err)
			return
		}
	}
}
