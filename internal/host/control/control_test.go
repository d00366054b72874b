package control_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/svc"
)

func TestVerbs(t *testing.T) {
	t.Parallel()
	onEachLine(t, func(t *testing.T, daemon, there net.Conn) {
		h, ctx := newHost(), t.Context()
		client, _, done := start(t, daemon, there, h, unheard)
		want := svc.RuntimeSpec{
			Ref: svc.Ref{Project: "p", Version: "v"}, CreatedAt: time.Unix(1, 0).UTC(), Tag: "main",
			Env: map[string]string{"A": "é\n\x00\"<"}, Host: svc.HostConfig{StartTimeout: time.Second, HeapMB: 5},
			ObjectNamespace: "n",
		}
		for name, verb := range map[string]func(context.Context, svc.RuntimeSpec) error{"open": client.Open, "archive": client.Archive} {
			if err := verb(ctx, want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, <-h.spec); diff != "" {
				t.Errorf("%s changed the spec:\n%s", name, diff)
			}
		}
		if p, err := client.Prepare(ctx); err != nil || len(p.Applied) != 1 {
			t.Errorf("Prepare: %v %v", p, err)
		}
		if cut, err := client.Cut(ctx); err != nil || cut.Databases["sys"].Files[0].Max != 7 {
			t.Errorf("Cut: %v, %v", cut, err)
		}
		_, err := client.Stop(ctx, time.Second)
		var e *svc.Error
		if !errors.As(err, &e) || !errors.Is(err, svc.Unprocessable) {
			t.Fatalf("Stop: %v", err)
		}
		if diff := cmp.Diff("some_code it says \"no\": do that: the cause", e.Code+" "+e.Error()); diff != "" {
			t.Error(diff)
		}
		client.Close()
		if err := <-done; err != nil {
			t.Errorf("Serve ended with %v", err)
		}
	})
}

// stoppedHost ends when it is stopped.
type stoppedHost struct {
	*host

	ended chan struct{}
}

func (*stoppedHost) Stop(context.Context, control.Stop) (svc.Wake, error) {
	return svc.Wake{Pending: 7}, nil
}

func (h *stoppedHost) Stopped() { close(h.ended) }

// TestStopped: the answer to a stop arrives although the host ends with it.
func TestStopped(t *testing.T) {
	t.Parallel()
	onEachLine(t, func(t *testing.T, daemon, there net.Conn) {
		h := &stoppedHost{host: newHost(), ended: make(chan struct{})}
		server := control.NewServer(there, slog.New(slog.DiscardHandler))
		done := make(chan error, 1)
		go func() { done <- server.Serve(t.Context(), h) }()
		go func() { // as hostmain does
			<-h.ended
			_ = server.Tell(control.Notice{})
			_ = server.Close()
		}()
		client, err := control.Connect(t.Context(), daemon, unheard)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		if left, err := client.Stop(t.Context(), 0); err != nil || left.Pending != 7 {
			t.Errorf("Stop: %+v %v", left, err)
		}
		if err := <-done; err != nil {
			t.Errorf("Serve ended with %v", err)
		}
	})
}

func TestEventVerbs(t *testing.T) {
	t.Parallel()
	onEachLine(t, func(t *testing.T, daemon, there net.Conn) {
		h, ctx := newHost(), t.Context()
		client, _, _ := start(t, daemon, there, h, unheard)
		at := time.Unix(5, 123e6).UTC()
		r, err := client.Dispatch(ctx, svc.Event{Scheduled: &svc.Scheduled{Cron: "* * * * *", Time: at}, Limit: time.Minute})
		if want := (svc.EventResult{Outcome: svc.OutcomeOK, Duration: time.Minute, Logs: []svc.LogLine{{Message: "* * * * *", Time: at}}}); err != nil || !cmp.Equal(want, r) {
			t.Errorf("Dispatch: %v, %v", err, cmp.Diff(want, r))
		}
		canceled, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := client.Dispatch(canceled, svc.Event{Scheduled: &svc.Scheduled{Cron: "wait"}}); !errors.Is(err, context.Canceled) {
			t.Errorf("a canceled Dispatch: %v", err)
		}
		for _, armed := range []bool{true, false} {
			if err := client.Arm(ctx, armed); err != nil || h.armed.Load() != armed {
				t.Errorf("Arm: %v, armed %t", err, h.armed.Load())
			}
		}
		if w, err := client.NextWake(ctx); err != nil || w.Pending != 3 || w.At.Unix() != 1 {
			t.Errorf("NextWake: %+v, %v", w, err)
		}
		if err := client.ShowFiles(ctx, "/cache/v2"); err != nil || *h.files.Load() != "/cache/v2" {
			t.Errorf("ShowFiles: %v", err)
		}
	})
}

// A start that lasts keeps no ping waiting, and ends with the call.
func TestCancel(t *testing.T) {
	t.Parallel()
	onEachLine(t, func(t *testing.T, daemon, there net.Conn) {
		h := newHost()
		client, _, _ := start(t, daemon, there, h, unheard)
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { _, err := client.Serve(ctx); served <- err }()
		<-h.serving
		if pong, err := client.Ping(t.Context()); err != nil || pong.Behind != time.Second {
			t.Errorf("Ping: %v, %v", pong, err)
		}
		cancel()
		if err := <-served; !errors.Is(err, context.Canceled) {
			t.Errorf("Serve: %v", err)
		}
		if err := <-h.canceled; err == nil {
			t.Error("the host's context did not end")
		}
	})
}

// The end of the line ends the calls on one side and their contexts on the other.
func TestEndOfLine(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*control.Client, *control.Server) error{
		"daemon": func(c *control.Client, _ *control.Server) error { return c.Close() },
		"host":   func(_ *control.Client, s *control.Server) error { return s.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onEachLine(t, func(t *testing.T, daemon, there net.Conn) {
				h := newHost()
				client, server, done := start(t, daemon, there, h, unheard)
				served := make(chan error, 1)
				go func() { _, err := client.Serve(t.Context()); served <- err }()
				<-h.serving
				if err := end(client, server); err != nil {
					t.Error(err)
				}
				if err := <-served; !errors.Is(err, control.ErrClosed) {
					t.Errorf("Serve: %v", err)
				}
				if err := <-h.canceled; err == nil {
					t.Error("the host's context did not end")
				}
				<-client.Ended()
				if err := <-done; err != nil {
					t.Errorf("Serve ended with %v", err)
				}
				if _, err := client.Ping(t.Context()); !errors.Is(err, control.ErrClosed) {
					t.Errorf("Ping: %v", err)
				}
				if err := server.Tell(control.Notice{}); !errors.Is(err, control.ErrClosed) {
					t.Errorf("Tell: %v", err)
				}
			})
		})
	}
}

// A host may end as soon as it was heard: nothing is lost, and all of it comes
// before the end.
func TestNotices(t *testing.T) {
	t.Parallel()
	onEachLine(t, func(t *testing.T, daemon, there net.Conn) {
		var heard []control.Notice
		client, server, _ := start(t, daemon, there, newHost(), func(n control.Notice) { heard = append(heard, n) })
		want := []control.Notice{
			{Requests: []svc.RequestCount{{Op: "put", Result: "ok", N: 3}}},
			{Exit: &control.Exit{Code: "c", Detail: "d"}},
			{Exit: &control.Exit{Code: "again"}, Requests: []svc.RequestCount{{Op: "get", Result: "ok", N: 1}}},
		}
		for i, n := range want {
			if err := server.Tell(n); err != nil || len(heard) != i+1 { // Tell makes this read safe
				t.Fatalf("Tell: %v, heard %v", err, heard)
			}
		}
		server.Close()
		<-client.Ended()
		if diff := cmp.Diff(want, slices.Clone(heard)); diff != "" {
			t.Errorf("what was heard:\n%s", diff)
		}
	})
}
