//go:build e2e

package e2e

import (
	"bufio"
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/fleet/join"
	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/lib/backoff"
	"github.com/svcctl/svcctl/internal/svc"
)

// fakeHosts are worker hosts of many machines without workerd: what they cost the server is what a
// real one costs it.
type fakeHosts struct {
	addr    string
	token   join.Token
	release string
	all     sync.WaitGroup
}

// start keeps n hosts, until ctx ends.
func (f *fakeHosts) start(ctx context.Context, n int) {
	for range n {
		f.all.Go(func() {
			for wait := 0; ctx.Err() == nil; wait = 1 { // as a machine does that is of no use
				_ = backoff.Sleep(ctx, time.Duration(wait)*time.Second)
				h := &fakeHost{session: strings.ToLower(rand.Text()), over: make(chan struct{})}
				f.live(ctx, h)
			}
		})
	}
}

// live keeps a line of one host until its version has ended.
func (f *fakeHosts) live(ctx context.Context, h *fakeHost) {
	for ctx.Err() == nil {
		conn, w, err := join.Dial(ctx, f.addr, f.token, h.hello(f))
		if err != nil {
			select {
			case <-ctx.Done():
			case <-time.After(200 * time.Millisecond):
			}
			continue
		}
		if w.Unwanted {
			_ = conn.Close()
			return
		}
		s := control.NewServer(conn, slog.New(slog.DiscardHandler))
		stop := context.AfterFunc(ctx, func() { _ = s.Close() })
		h.server.Store(s)
		_ = s.Serve(ctx, h) // it ends with the line
		stop()
		select {
		case <-h.over:
			return
		default:
		}
		if h.mark.Load() == nil {
			return
		}
	}
}

// refused reports a machine that the server does not take, for a clear failure.
func (f *fakeHosts) refused(t *testing.T) {
	t.Helper()
	conn, _, err := join.Dial(t.Context(), f.addr, f.token, (&fakeHost{session: "probe", over: make(chan struct{})}).hello(f))
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
}

// fakeHost is one of them. Its methods are what the server asks.
type fakeHost struct {
	session string
	server  atomic.Pointer[control.Server]
	mark    atomic.Pointer[string]
	ref     atomic.Pointer[svc.Ref]
	over    chan struct{}
	once    sync.Once
}

func (h *fakeHost) hello(f *fakeHosts) join.Hello {
	hello := join.Hello{Secret: f.token.Secret, Release: f.release, Time: time.Now(), Machine: "m" + h.session, Name: "m" + h.session[:4], Session: h.session}
	if m := h.mark.Load(); m != nil {
		hello.Mark, hello.Ref = *m, h.ref.Load()
	}
	return hello
}

var _ control.Machine = (*fakeHost)(nil)

func (h *fakeHost) Warm(context.Context, control.Spare) error { return nil }

func (h *fakeHost) Open(_ context.Context, s svc.RuntimeSpec) error {
	mark, err := join.Mark(s)
	h.mark.Store(&mark)
	h.ref.Store(&s.Ref)
	return err
}

func (h *fakeHost) Prepare(context.Context) (svc.Prepared, error) { return svc.Prepared{}, nil }

func (h *fakeHost) Serve(context.Context) (svc.Endpoint, error) {
	return svc.Endpoint{Socket: "worker.sock", Port: 1, PID: 1, WorkerdPID: 1}, nil
}

func (h *fakeHost) Ping(context.Context) (control.Pong, error) { return control.Pong{}, nil }

func (h *fakeHost) Cut(context.Context) (branch.VersionCut, error) { return branch.VersionCut{}, nil }

func (h *fakeHost) Archive(context.Context, svc.RuntimeSpec) error { return nil }

func (h *fakeHost) Stop(context.Context, control.Stop) (svc.Wake, error) {
	h.end()
	return svc.Wake{}, nil
}

func (h *fakeHost) Dispatch(context.Context, svc.Event) (svc.EventResult, error) {
	return svc.EventResult{}, nil
}

func (h *fakeHost) Arm(context.Context, bool) error { return nil }

func (h *fakeHost) NextWake(context.Context) (svc.Wake, error) { return svc.Wake{}, nil }

func (h *fakeHost) Stage(context.Context, svc.RuntimeSpec) error { return nil }

func (h *fakeHost) Seal(context.Context, control.Seal) (control.Sealing, error) {
	return control.Sealing{}, nil
}

func (h *fakeHost) Positions(context.Context) (control.Positions, error) { return nil, nil } // it has no data

func (h *fakeHost) Events(context.Context, bool) error { return nil }

func (h *fakeHost) ReadOnly(context.Context, bool) error { return nil }

func (h *fakeHost) PageOut(context.Context) (svc.PagedOut, error) { return svc.PagedOut{}, nil }

func (h *fakeHost) ShowFiles(context.Context, string) error { return nil }

func (h *fakeHost) Data(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }

func (h *fakeHost) Measure(context.Context) (control.Usage, error) {
	return control.Usage{RSSBytes: 40 << 20, Descriptors: 30}, nil
}

func (h *fakeHost) Permit(_ context.Context, p control.Permit) (control.Admitted, error) {
	return control.Admitted{Answer: 1, Number: p.Number}, nil
}

func (h *fakeHost) End(context.Context) error {
	h.end()
	return nil
}

// end says that the host has ended, when the server has the answer of its verb.
func (h *fakeHost) end() {
	h.once.Do(func() {
		go func() {
			_ = h.server.Load().Tell(control.Notice{Gone: &control.Gone{State: "exit status 0"}}) // else the line has ended
			close(h.over)
			_ = h.server.Load().Close()
		}()
	})
}

// Dial is a connection with a worker that answers each request.
func (h *fakeHost) Dial(context.Context, string) (net.Conn, error) {
	near, far := net.Pipe()
	go func() {
		defer far.Close()
		for in := bufio.NewReader(far); ; {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
			if _, err := io.WriteString(far, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhere"); err != nil {
				return
			}
		}
	}()
	return near, nil
}
