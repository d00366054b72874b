package workerhost

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/svc"
)

// dataStopTime is how long requests under way may take when the version stops.
const dataStopTime = 2 * time.Second

// dataServer answers the daemon's requests for a version's data [D32], until Close.
type dataServer struct {
	serve http.HandlerFunc
	stop  context.CancelFunc // ends the contexts of the requests under way

	mu       sync.Mutex // guards closed, and Add after Wait
	closed   bool
	underWay sync.WaitGroup
}

func newDataServer(ctx context.Context, r Resources, log *slog.Logger) *dataServer {
	data := r.Data(func(w http.ResponseWriter, r *http.Request, err error) { tell(w, r, err, log) })
	stopped, stop := context.WithCancel(context.WithoutCancel(ctx)) // ctx is of the call that opens the version
	return &dataServer{stop: stop, serve: func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(stopped, cancel)()
		data.ServeHTTP(w, r.WithContext(ctx)) //nolint:contextcheck // a request is not part of the open
	}}
}

// ServeHTTP implements http.Handler.
func (s *dataServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.begin() {
		_ = control.WriteError(w, errNotOpen())
		return
	}
	defer s.underWay.Done()
	s.serve(w, r)
}

func (s *dataServer) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.underWay.Add(1)
	}
	return !s.closed
}

// Close interrupts the requests under way and gives them time to answer.
func (s *dataServer) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	done := make(chan struct{})
	go func() { s.underWay.Wait(); close(done) }()
	t := time.NewTimer(dataStopTime)
	defer t.Stop()
	select {
	case <-done:
		return nil
	case <-t.C:
		return errors.New("requests for data did not end")
	}
}

// Data implements control.Handler.
func (h *Host) Data(w http.ResponseWriter, r *http.Request) {
	if v := h.open.Load(); v != nil {
		if worker := h.running(); worker != nil {
			worker.memory.wake()
		}
		v.data.ServeHTTP(w, r)
		return
	}
	_ = control.WriteError(w, errNotOpen()) // a daemon that is gone reads no answer
}

func errNotOpen() error {
	return svc.Errorf(svc.Conflict, svc.CodeRuntimeNotOpen, "this host has no open version")
}

func errNotServing() error {
	return svc.Errorf(svc.Unavailable, svc.CodeNotServing, "the worker does not serve")
}

// tell answers with an error. An internal one is logged here, where its cause is
// known.
func tell(w http.ResponseWriter, r *http.Request, err error, log *slog.Logger) {
	if errors.Is(err, svc.Internal) || !errors.As(err, new(*svc.Error)) {
		log.ErrorContext(r.Context(), "a request for data failed", "method", r.Method, "error", err)
	}
	if err := control.WriteError(w, err); err != nil {
		log.DebugContext(r.Context(), "an answer was cut short", "error", err)
	}
}
