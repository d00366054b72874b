package control_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/svc"
)

func ask(ctx context.Context, c *control.Client, method, path string, body io.Reader) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	return c.Data(r)
}

// zeros is a stream of zeros without an end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// What is sent arrives: the path in its encoding, the headers, the body, the error.
func TestData(t *testing.T) {
	t.Parallel()
	onEachLine(t, func(t *testing.T, daemon, there net.Conn) {
		h := newHost()
		client, _, _ := start(t, daemon, there, h, unheard)
		h.data = func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Svc-Path", r.URL.EscapedPath()+"?"+r.URL.RawQuery)
			w.WriteHeader(http.StatusAccepted)
			_, _ = io.Copy(w, r.Body)
		}
		const path = "/kv/KV/values/a%2F%2e%2e//b%00?c=%26"
		resp, err := ask(t.Context(), client, "PUT", path, strings.NewReader("hello"))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil || string(body) != "hello" || resp.StatusCode != http.StatusAccepted || resp.Header.Get("Svc-Path") != path {
			t.Errorf("%q %v %d %v", body, err, resp.StatusCode, resp.Header)
		}
		h.data = func(w http.ResponseWriter, _ *http.Request) {
			_ = control.WriteError(w, svc.Errorf(svc.NotFound, "no_such", "none"))
		}
		refused, err := ask(t.Context(), client, "GET", "/", nil)
		if err == nil {
			refused.Body.Close()
		}
		if !errors.Is(err, svc.NotFound) || svc.CodeOf(err) != "no_such" {
			t.Errorf("a refusal is %v", err)
		}
	})
}

// A body that cannot be read fails its request with the reason, and nothing else.
func TestDataOfABrokenBody(t *testing.T) {
	t.Parallel()
	onEachLine(t, func(t *testing.T, daemon, there net.Conn) {
		client, _, _ := start(t, daemon, there, newHost(), unheard)
		limited := http.MaxBytesReader(nil, io.NopCloser(zeros{}), 1<<20)
		resp, err := ask(t.Context(), client, "PUT", "/", limited)
		if err == nil { // the answer began before the limit was reached
			_, err = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		if !errors.As(err, new(*http.MaxBytesError)) {
			t.Errorf("it fails with %v", err)
		}
		if _, err := client.Ping(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// Large bodies in both directions arrive whole while small calls are answered.
func TestLargeBesideSmall(t *testing.T) {
	t.Parallel()
	onEachLine(t, func(t *testing.T, daemon, there net.Conn) {
		client, _, _ := start(t, daemon, there, newHost(), unheard)
		const size = 32 << 20
		var work sync.WaitGroup
		work.Go(func() {
			resp, err := ask(t.Context(), client, "PUT", "/", io.LimitReader(zeros{}, size))
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			if n, err := io.Copy(io.Discard, resp.Body); n != size || err != nil {
				t.Errorf("%d bytes came back: %v", n, err)
			}
		})
		for range 200 {
			work.Go(func() {
				if _, err := client.Ping(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		work.Wait()
	})
}

// Bodies that are not read, in either direction, keep no ping waiting; the end of
// their requests reaches the host.
func TestStalledBodies(t *testing.T) {
	t.Parallel()
	onEachLine(t, func(t *testing.T, daemon, there net.Conn) {
		const stalled = 100 // of each: more than the limits of net/http's defaults
		h := newHost()
		client, _, _ := start(t, daemon, there, h, unheard)
		var began, ended sync.WaitGroup
		began.Add(2 * stalled)
		ended.Add(2 * stalled)
		h.data = func(w http.ResponseWriter, r *http.Request) {
			defer ended.Done()
			w.WriteHeader(http.StatusOK)
			if r.Method == http.MethodPut {
				_ = http.NewResponseController(w).Flush()
				began.Done()
				<-r.Context().Done()
				return
			}
			began.Done()
			_, _ = io.Copy(w, zeros{}) // until the request ends
		}
		ctx, cancel := context.WithCancel(t.Context())
		for range stalled {
			for method, body := range map[string]io.Reader{"GET": nil, "PUT": zeros{}} {
				go func() {
					if resp, err := ask(ctx, client, method, "/", body); err == nil {
						context.AfterFunc(ctx, func() { resp.Body.Close() })
					}
				}()
			}
		}
		began.Wait()
		if _, err := client.Ping(t.Context()); err != nil {
			t.Error(err)
		}
		cancel()
		ended.Wait()
	})
}
