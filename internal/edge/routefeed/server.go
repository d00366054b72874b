package routefeed

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Paths of the server.
const (
	FeedPath   = "/gateway/v1/routes"
	ReportPath = "/gateway/v1/reports"
)

const (
	// beatEvery is the time between two lines when nothing changes.
	beatEvery = time.Second
	// writeLimit is how long a gateway may take to read what is sent; then its stream ends.
	writeLimit = 10 * time.Second
	// SilentAfter is the silence after which a gateway counts as away.
	SilentAfter = 10 * time.Second
	// forgetAfter is the silence after which a gateway is no longer listed.
	forgetAfter = time.Hour
	// maxGateways is the number of gateways that the server lists.
	maxGateways = 1000
	// maxReport is the maximum size of a report in bytes.
	maxReport = 16 << 20
)

// ServerConfig configures a Server. Log and Logger are required.
type ServerConfig struct {
	Log    *Log
	Logger *slog.Logger

	Begin <-chan struct{} // no routes are sent before it is closed; nil for no wait

	Observe func(Request)  // a finished request of a gateway; may be nil
	Rouse   func(svc.Ref)  // a request waits for a version that sleeps; may be nil
	Asked   func(svc.Ref)  // a request was refused whose version is restarted; may be nil
	Dropped func(n uint64) // finished requests that a gateway could not report; may be nil
}

// Server sends a log to gateways and takes their reports.
type Server struct {
	cfg  ServerConfig
	done chan struct{}
	once sync.Once

	mu   sync.Mutex
	list map[string]*svc.Gateway // by instance
}

// NewServer returns a server. It starts nothing.
func NewServer(cfg ServerConfig) *Server {
	return &Server{cfg: cfg, done: make(chan struct{}), list: map[string]*svc.Gateway{}}
}

// Close ends all streams. It does not wait.
func (s *Server) Close() { s.once.Do(func() { close(s.done) }) }

// Routes answers with the stream of routes.
func (s *Server) Routes(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	instance := q.Get("instance")
	if instance == "" || len(instance) > 64 {
		http.Error(w, "want the parameter instance", http.StatusBadRequest)
		return
	}
	g := svc.Gateway{Name: q.Get("name"), Address: r.RemoteAddr, Version: q.Get("build"), ConnectedAt: time.Now()}
	if !s.connect(instance, g) {
		http.Error(w, "too many gateways", http.StatusServiceUnavailable)
		return
	}
	defer s.disconnect(instance, g.ConnectedAt)
	s.cfg.Logger.InfoContext(r.Context(), "gateway connected", "name", g.Name, "address", g.Address)
	if !s.begun(r.Context()) {
		return
	}
	w.Header().Set("Content-Type", "application/jsonl")
	w.Header().Set("Cache-Control", "no-store")
	err := s.follow(r.Context(), w)
	s.cfg.Logger.InfoContext(r.Context(), "gateway disconnected", "name", g.Name, "address", g.Address, "error", err)
}

// begun waits until routes may be sent. It reports false if the gateway has gone, or the server stops.
func (s *Server) begun(ctx context.Context) bool {
	if s.cfg.Begin == nil {
		return true
	}
	select {
	case <-s.cfg.Begin:
		return true
	case <-s.done:
	case <-ctx.Done():
	}
	return false
}

// follow sends routes until the gateway has gone.
func (s *Server) follow(ctx context.Context, w http.ResponseWriter) error {
	out := stream{ResponseController: http.NewResponseController(w), w: w}
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	for generation := uint64(0); ; {
		next := s.cfg.Log.after(generation)
		if next.all == nil && len(next.changes) == 0 {
			select {
			case <-next.wait:
				continue
			case <-beat.C:
				next.changes = []Line{{Kind: kindHeartbeat}}
			case <-s.done:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		if next.all != nil {
			if err := out.send(next.all.text()); err != nil {
				return err
			}
		}
		if err := out.send(encode(next.changes)); err != nil {
			return err
		}
		generation = next.generation
	}
}

// stream is what a gateway reads.
type stream struct {
	*http.ResponseController

	w io.Writer
}

// piece is the number of bytes that a gateway reads within writeLimit.
const piece = 256 << 10

func (s stream) send(text []byte) error {
	for part := range slices.Chunk(text, piece) {
		_ = s.SetWriteDeadline(time.Now().Add(writeLimit))
		if _, err := s.w.Write(part); err != nil {
			return err
		}
	}
	return s.Flush()
}

// connect lists a gateway as connected. It reports false if there are too many.
func (s *Server) connect(instance string, g svc.Gateway) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
	old := s.list[instance]
	if old == nil && len(s.list) >= maxGateways {
		return false
	}
	if old != nil {
		g.Generation, g.Requests, g.Inflight, g.Websockets = old.Generation, old.Requests, old.Inflight, old.Websockets
	}
	g.Connected, g.ReportedAt = true, g.ConnectedAt
	s.list[instance] = &g
	return true
}

func (s *Server) disconnect(instance string, since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.list[instance]; g != nil && g.ConnectedAt.Equal(since) { // else it has connected again
		g.Connected, g.Inflight, g.Websockets = false, 0, 0
	}
}

// forget removes gateways that were silent for long. s.mu must be held.
func (s *Server) forget() {
	for instance, g := range s.list {
		if !g.Connected && time.Since(g.ReportedAt) > forgetAfter {
			delete(s.list, instance)
		}
	}
}

// Gateways returns the gateways that were connected within forgetAfter, by name.
func (s *Server) Gateways() []svc.Gateway {
	now := s.cfg.Log.Generation()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
	all := make([]svc.Gateway, 0, len(s.list))
	for _, g := range s.list {
		one := *g
		one.Connected = one.Connected && time.Since(one.ReportedAt) < SilentAfter
		if one.Generation != 0 && one.Generation <= now {
			one.Behind = now - one.Generation
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b svc.Gateway) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Address, b.Address))
	})
	return all
}

// Report takes a report.
func (s *Server) Report(w http.ResponseWriter, r *http.Request) {
	var p Report
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxReport)).Decode(&p); err != nil {
		http.Error(w, "malformed report", http.StatusBadRequest)
		return
	}
	s.note(&p)
	for _, ref := range s.cfg.Log.known(p.Rouse) {
		call(s.cfg.Rouse, ref)
	}
	for _, ref := range s.cfg.Log.known(p.Asked) {
		call(s.cfg.Asked, ref)
	}
	for _, one := range p.Finished {
		if one.Ref == (svc.Ref{}) || len(s.cfg.Log.known([]svc.Ref{one.Ref})) > 0 { // names of files come from it
			call(s.cfg.Observe, one)
		}
	}
	if p.Dropped > 0 {
		call(s.cfg.Dropped, p.Dropped)
	}
	w.WriteHeader(http.StatusNoContent)
}

func call[T any](f func(T), v T) {
	if f != nil {
		f(v)
	}
}

// note stores the numbers of a report.
func (s *Server) note(p *Report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.list[p.Instance]; g != nil {
		g.ReportedAt, g.Generation = time.Now(), p.Generation
		g.Requests, g.Inflight, g.Websockets, g.Listens = p.Requests, p.Inflight, p.Websockets, p.Listens
	}
}
