package agent

import (
	"errors"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/host/control"
)

// outbox gives notices to the daemon, in order, over whatever line there is. The one with Gone
// is the last.
type outbox struct {
	done chan struct{} // closed when the daemon has heard the last one

	mu     sync.Mutex // guards the fields below
	list   []control.Notice
	server *control.Server // nil without a line
	change chan struct{}   // closed and replaced at each change
	closed bool
}

func newOutbox() *outbox {
	o := &outbox{done: make(chan struct{}), change: make(chan struct{})}
	go o.deliver()
	return o
}

func (o *outbox) add(n control.Notice) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = append(o.list, n)
	o.changed()
}

// await waits for the last notice, for a limited time.
func (o *outbox) await(limit time.Duration) {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-o.done:
	case <-t.C:
	}
}

// waiting returns how many notices the daemon has not heard.
func (o *outbox) waiting() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.list)
}

// to sets the line; nil for none.
func (o *outbox) to(s *control.Server) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.server = s
	o.changed()
}

func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.changed()
}

// changed needs o.mu.
func (o *outbox) changed() {
	close(o.change)
	o.change = make(chan struct{})
}

func (o *outbox) isDone() bool {
	select {
	case <-o.done:
		return true
	default:
		return false
	}
}

// deliver tells one notice after another. One that a line did not carry goes over the next.
func (o *outbox) deliver() {
	var failed *control.Server // it carries no more
	for {
		o.mu.Lock()
		if o.closed {
			o.mu.Unlock()
			return
		}
		s, change := o.server, o.change
		if len(o.list) == 0 || s == nil || s == failed {
			o.mu.Unlock()
			<-change
			continue
		}
		next := o.list[0]
		o.mu.Unlock()
		switch err := s.Tell(next); {
		case errors.Is(err, control.ErrClosed):
			failed = s
			continue
		case err != nil:
			continue // the daemon is busy
		}
		o.mu.Lock()
		o.list = o.list[1:]
		o.mu.Unlock()
		if next.Gone != nil {
			close(o.done)
			return
		}
	}
}
