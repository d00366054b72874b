package inspect

import (
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// Target is the inspector of a version.
type Target struct {
	Title   string // for people
	File    string // absolute path of the worker's entry point
	Session string // path of the worker at the inspector, without a slash
	// Address returns host:port of workerd's inspector, "" while it does not listen. It
	// changes when workerd starts again.
	Address func() string
	Scripts Scripts
}

// Proxy is the handler of the stable port. Its methods are safe for concurrent use.
type Proxy struct {
	logger *slog.Logger

	mu      sync.Mutex
	workers []*worker // in the order of their first Switch
}

// worker is one entry of the list.
type worker struct {
	id     string
	target Target
	ended  chan struct{} // closed when another version serves
}

// New returns a Proxy without workers.
func New(logger *slog.Logger) *Proxy { return &Proxy{logger: logger} }

// Switch makes t the inspector of the worker id, and closes the websockets to the one
// before. An id needs no escaping in a URL.
func (p *Proxy) Switch(id string, t Target) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.workers, func(w *worker) bool { return w.id == id })
	next := &worker{id: id, target: t, ended: make(chan struct{})}
	if i < 0 {
		p.workers = append(p.workers, next)
		return
	}
	close(p.workers[i].ended)
	p.workers[i] = next
}

// Close closes all websockets.
func (p *Proxy) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.workers {
		close(w.ended)
	}
	p.workers = nil
}

// ServeHTTP answers one request of a debugger.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !fromDebugger(r) {
		http.Error(w, "only debuggers of this machine may attach", http.StatusForbidden)
		return
	}
	switch r.URL.Path {
	case "/json", "/json/list":
		p.list(w, r)
	case "/json/version":
		answer(w, map[string]string{"Browser": "svcctl dev", "Protocol-Version": "1.3"})
	default:
		target := p.find(strings.TrimPrefix(r.URL.Path, "/"))
		if target == nil {
			http.NotFound(w, r)
			return
		}
		p.relay(w, r, target)
	}
}

// fromDebugger reports whether a request is no page's: a page names its origin in a
// websocket, and its host if it has this address by a name of its own (DNS rebinding).
func fromDebugger(r *http.Request) bool {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if ip := net.ParseIP(strings.Trim(host, "[]")); !strings.EqualFold(host, "localhost") && (ip == nil || !ip.IsLoopback()) {
		return false
	}
	u, err := url.Parse(r.Header.Get("Origin"))
	return err == nil && u.Scheme != "http" && u.Scheme != "https"
}

func (p *Proxy) find(id string) *worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.workers {
		if w.id == id {
			return w
		}
	}
	return nil
}

// entry is an entry of the list, in the form of Node.js.
type entry struct {
	Description string `json:"description"`
	Frontend    string `json:"devtoolsFrontendUrl"`
	ID          string `json:"id"`
	Title       string `json:"title"`
	Type        string `json:"type"`
	URL         string `json:"url"`
	Websocket   string `json:"webSocketDebuggerUrl"`
}

func (p *Proxy) list(rw http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	list := []entry{}
	for _, w := range p.workers {
		at := r.Host + "/" + w.id
		list = append(list, entry{
			Description: "worker of svcctl dev", ID: w.id, Title: w.target.Title, Type: "node", URL: fileURL(w.target.File), Websocket: "ws://" + at,
			Frontend: "devtools://devtools/bundled/js_app.html?experiments=true&v8only=true&ws=" + at,
		})
	}
	p.mu.Unlock()
	answer(rw, list)
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	_ = json.NewEncoder(w).Encode(v) // the client left
}

func fileURL(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }
