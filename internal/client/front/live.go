package front

import (
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	ownPath    = "/cdn-cgi/svcctl/"
	scriptPath = ownPath + "live.js"
	eventsPath = ownPath + "events"
	script     = `<script src="` + scriptPath + `" async></script>` + "\n"
)

// code reloads the page when a version serves or a problem appears or ends. It
// connects again by itself after watch mode was started again.
const code = `new EventSource("` + eventsPath + `").addEventListener("reload", () => location.reload());` + "\n"

// beat keeps the connection of a page alive through proxies.
const beat = 30 * time.Second

// own answers the paths of the front. It reports whether the path is one.
func (f *Front) own(w http.ResponseWriter, r *http.Request) bool {
	switch r.URL.Path {
	case scriptPath:
		w.Header().Set("Content-Type", "text/javascript")
		w.Header().Set("Cache-Control", "no-store")
		_, _ = fmt.Fprint(w, code) // the client may be gone
	case eventsPath:
		f.events(w, r)
	default:
		return false
	}
	return true
}

// events streams reloads to one page.
func (f *Front) events(w http.ResponseWriter, r *http.Request) {
	ch, end := f.reload.listen()
	defer end()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	out := http.NewResponseController(w)
	ticks := time.NewTicker(beat)
	defer ticks.Stop()
	for text := ": connected\n\n"; ; {
		if _, err := fmt.Fprint(w, text); err != nil || out.Flush() != nil {
			return
		}
		select {
		case name, ok := <-ch:
			if !ok {
				return
			}
			text = "event: " + name + "\ndata: 1\n\n"
		case <-ticks.C:
			text = ": beat\n\n"
		case <-r.Context().Done():
			return
		}
	}
}

// broadcast sends events to all listeners. A listener that is slow gets the last one.
type broadcast struct {
	mu        sync.Mutex
	listeners map[chan string]bool
	closed    bool
}

func (b *broadcast) listen() (<-chan string, func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ch := make(chan string, 1)
	if b.closed {
		close(ch)
		return ch, func() {}
	}
	if b.listeners == nil {
		b.listeners = map[chan string]bool{}
	}
	b.listeners[ch] = true
	return ch, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.listeners, ch)
	}
}

func (b *broadcast) send(event string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for ch := range b.listeners {
		select {
		case ch <- event:
		default: // one is waiting already
		}
	}
}

func (b *broadcast) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for ch := range b.listeners {
		close(ch)
		delete(b.listeners, ch)
	}
}
