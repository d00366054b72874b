package control

import (
	"context"
	"errors"
	"sync"
	"time"
)

// nextNotice is the verb that asks for the next notice. Its argument is how many
// were heard, so that a host that exits knows that its last one was.
const nextNotice = "next-notice"

// tellLimit is how long Tell waits for a daemon that does not ask.
const tellLimit = 5 * time.Second

var errUnheard = errors.New("the daemon did not take a notice")

// notices are what a host has to report, in order.
type notices struct {
	mu     sync.Mutex
	list   []Notice      // not heard yet
	heard  int           // those before list
	ended  bool          // the line
	change chan struct{} // closed and replaced at each change
}

func newNotices() *notices { return &notices{change: make(chan struct{})} }

// changed needs n.mu.
func (n *notices) changed() {
	close(n.change)
	n.change = make(chan struct{})
}

// tell adds a notice and waits until it was heard.
func (n *notices) tell(notice Notice) error {
	limit := time.NewTimer(tellLimit)
	defer limit.Stop()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, notice)
	number := n.heard + len(n.list)
	n.changed()
	for n.heard < number {
		if n.ended {
			return ErrClosed
		}
		if !await(n, limit.C) {
			return errUnheard
		}
	}
	return nil
}

// next is the notice after the first heard ones, once there is one.
func (n *notices) next(ctx context.Context, heard int) (Notice, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if k := heard - n.heard; k > 0 {
		n.list, n.heard = n.list[min(k, len(n.list)):], heard
		n.changed()
	}
	for len(n.list) == 0 {
		if !await(n, ctx.Done()) {
			return Notice{}, context.Cause(ctx)
		}
	}
	return n.list[0], nil
}

// end is called when the line has ended.
func (n *notices) end() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ended = true
	n.changed()
}

// await releases n.mu until the next change and reports whether there was one.
func await[T any](n *notices, stop <-chan T) bool {
	change := n.change
	n.mu.Unlock()
	defer n.mu.Lock()
	select {
	case <-change:
		return true
	case <-stop:
		return false
	}
}
