package control_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/branch"
	"github.com/svcctl/svcctl/internal/control"
	"github.com/svcctl/svcctl/internal/svc"
)

// host records and answers.
type host struct {
	spec     chan control.Spec
	serving  chan struct{} // receives when Serve began
	canceled chan error
}

func (h *host) Open(_ context.Context, s control.Spec) error {
	h.spec <- s
	return nil
}

func (h *host) Prepare(context.Context) (control.Prepared, error) {
	return control.Prepared{Applied: []string{"DB/0001.sql"}}, nil
}

func (h *host) Serve(ctx context.Context) (control.Ready, error) {
	h.serving <- struct{}{}
	<-ctx.Done()
	h.canceled <- ctx.Err()
	return control.Ready{}, ctx.Err()
}

func (h *host) Ping(context.Context) (control.Pong, error) {
	return control.Pong{Behind: time.Second, Error: "slow"}, nil
}

func (h *host) Cut(context.Context) (control.Cut, error) {
	return control.Cut{Stores: map[string]branch.Cut{"sys": {TXID: 7, Files: []branch.File{{Prefix: "p/v/db/sys", Min: 1, Max: 7, Size: 9}}}}}, nil
}

func (h *host) Archive(_ context.Context, s control.Spec) error {
	h.spec <- s
	return nil
}

func (h *host) Stop(context.Context, control.Stop) error {
	return svc.Errorf(svc.Unprocessable, "some_code", "it says %q", "no").WithHint("do that").Because(errors.New("the cause"))
}

func start(t *testing.T, heard control.Heard) (*control.Client, *control.Server, *host, <-chan error) {
	t.Helper()
	here, there, err := control.Pair()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.FileConn(there)
	if err != nil {
		t.Fatal(err)
	}
	there.Close()
	h := &host{spec: make(chan control.Spec, 1), serving: make(chan struct{}, 1), canceled: make(chan error, 1)}
	server := control.NewServer(conn)
	done := make(chan error, 1)
	go func() { done <- server.Serve(t.Context(), h) }()
	client := control.Connect(here, heard)
	t.Cleanup(func() { client.Close(); server.Close() })
	return client, server, h, done
}

func TestRequests(t *testing.T) {
	t.Parallel()
	exits, requests := make(chan control.Exit, 1), make(chan []control.Requests, 1)
	client, server, h, done := start(t, control.Heard{
		Exit: func(e control.Exit) { exits <- e }, Requests: func(l []control.Requests) { requests <- l },
	})
	ctx := t.Context()
	want := control.Spec{
		Ref: svc.Ref{Project: "p", Version: "v"}, CreatedAt: time.Unix(1, 0).UTC(), Tag: "main",
		Env: map[string]string{"A": "é\n\x00\"<"}, StartTimeout: time.Second, HeapMB: 5,
	}
	if err := client.Open(ctx, want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, <-h.spec); diff != "" {
		t.Errorf("the spec changed on the way:\n%s", diff)
	}
	if p, err := client.Prepare(ctx); err != nil || len(p.Applied) != 1 {
		t.Errorf("Prepare: %v %v", p, err)
	}

	serveCtx, cancel := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { _, err := client.Serve(serveCtx); served <- err }()
	<-h.serving
	if pong, err := client.Ping(ctx); err != nil || pong.Behind != time.Second { // is not behind the start
		t.Errorf("Ping: %v, %v", pong, err)
	}
	if cut, err := client.Cut(ctx); err != nil || cut.Stores["sys"].Files[0].Max != 7 {
		t.Errorf("Cut: %v, %v", cut, err)
	}
	cancel()
	if err := <-served; !errors.Is(err, context.Canceled) {
		t.Errorf("Serve: %v", err)
	}
	if err := <-h.canceled; err == nil {
		t.Error("the host's context did not end")
	}

	err := client.Stop(ctx, time.Second)
	var e *svc.Error
	if !errors.As(err, &e) || !errors.Is(err, svc.Unprocessable) {
		t.Fatalf("Stop: %v", err)
	}
	if diff := cmp.Diff("some_code it says \"no\": do that: the cause", e.Code+" "+e.Error()); diff != "" {
		t.Error(diff)
	}
	if err := server.Exited(control.Exit{Code: "c", Detail: "d"}); err != nil {
		t.Error(err)
	}
	if e := <-exits; e.Code != "c" {
		t.Errorf("exit %+v", e)
	}
	counted := []control.Requests{{Op: "put", Result: "ok", N: 3}}
	for _, list := range [][]control.Requests{nil, counted} { // nothing is not worth a message
		if err := server.Requested(list); err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff(counted, <-requests); diff != "" {
		t.Errorf("the requests changed on the way:\n%s", diff)
	}
	client.Close()
	if err := <-done; err != nil {
		t.Errorf("Serve ended with %v", err)
	}
}

func TestLostHost(t *testing.T) {
	t.Parallel()
	client, server, h, _ := start(t, control.Heard{})
	served := make(chan error, 1)
	go func() { _, err := client.Serve(t.Context()); served <- err }()
	<-h.serving
	server.Close()
	if err := <-served; !errors.Is(err, control.ErrClosed) {
		t.Errorf("Serve: %v", err)
	}
	if _, err := client.Ping(t.Context()); !errors.Is(err, control.ErrClosed) {
		t.Errorf("Ping: %v", err)
	}
}
