package loop

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svcctl/svcctl/internal/edge/gateway/conn"
	"github.com/svcctl/svcctl/internal/edge/gateway/route"
)

const (
	// loopEvents is the maximum number of events of one wait.
	loopEvents = 256
	// loopMargin is the space in front of what a loop reads from runtimes: the head for
	// the client is put there, directly in front of the body.
	loopMargin = 16 << 10
	// loopRead is the maximum size of one read from a runtime.
	loopRead = 128 << 10
	// loopTurns is the number of reads for one response before other connections get
	// their turn.
	loopTurns = 4
	// loopStay is how long a loop keeps its processor while it waits, in milliseconds.
	loopStay = 5
)

// loop serves connections with one goroutine, which waits for events with epoll. It reads
// and writes, and never blocks: what could block is handed over to a goroutine of GoEngine.
// All fields belong to the goroutine of run, except where a comment says otherwise.
type loop struct {
	e    *Engine
	ctx  context.Context //nolint:containedctx // of Serve
	ep   int
	wake int // an eventfd, for post

	slots     []slot // by descriptor
	gen       int32
	listeners []*sharedFD
	clients   atomic.Int32 // open, or on their way to this loop; used by any goroutine

	in   []byte // from a client, during one event
	buf  []byte // from a runtime, during one event
	out  []byte // head for a client, during one event
	now  time.Time
	busy bool // events come often

	current *loopClient // whom the event is for, nil for none

	spares  map[*route.Upstream][]*loopRuntime // the most recently used one last
	unused  []*loopExchange
	turns   []*loopClient // to be continued after the other events
	late    []lateBody    // the first one ends first
	closing bool
	aborted bool

	mu    sync.Mutex // guards inbox and ended
	inbox []func()
	ended bool
}

// slot is the receiver of the events of a descriptor. gen distinguishes it from one that
// had the same descriptor before.
type slot struct {
	who source
	gen int32
}

// source receives events.
type source interface{ ready(l *loop, events uint32) }

func newLoop(ctx context.Context, e *Engine) (*loop, error) {
	l := &loop{
		e: e, ctx: ctx, now: time.Now(), spares: map[*route.Upstream][]*loopRuntime{},
		in: make([]byte, conn.InputSize), buf: make([]byte, loopMargin+loopRead+conn.Tailroom), out: make([]byte, 0, 4<<10),
	}
	var err error
	if l.ep, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, err
	}
	if l.wake, err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC); err == nil {
		err = l.add(l.wake, inbox{}, unix.EPOLLIN)
	}
	if err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// run serves until the loop is stopped and has no connections.
func (l *loop) run() {
	defer l.close()
	events := make([]unix.EpollEvent, loopEvents)
	for !l.isOver() {
		n := l.wait(events)
		l.now = time.Now()
		for i := range n {
			if s := l.slots[events[i].Fd]; s.who != nil && s.gen == events[i].Pad {
				l.dispatch(s.who, events[i].Events)
			}
		}
		l.takeTurns()
		l.endPatience()
	}
}

// wait waits for events and returns their number. While events come often, the loop keeps its
// processor: to give it back and to ask for it again costs more than the work in between, and
// keeps the monitor thread of Go awake. That thread signals each 10 ms that the loop must yield;
// it yields once and continues to wait in this way. An idle loop waits as any goroutine does.
func (l *loop) wait(events []unix.EpollEvent) int {
	limit := l.timeout()
	if l.busy || limit == 0 {
		stay := limit
		if stay < 0 || stay > loopStay {
			stay = loopStay
		}
		n := epollStay(l.ep, events, stay)
		for ; n < 0; n = epollStay(l.ep, events, stay) {
			runtime.Gosched()
		}
		if n > 0 || stay == limit {
			return n
		}
	}
	n, _ := unix.EpollWait(l.ep, events, limit) // an error is a signal: n is -1
	l.busy = n > 0
	return max(n, 0)
}

// timeout is the time to wait for events, in milliseconds; -1 for no limit.
func (l *loop) timeout() int {
	switch {
	case len(l.turns) > 0:
		return 0
	case len(l.late) > 0:
		return int(max(l.late[0].due.Sub(l.now)+time.Millisecond, 0) / time.Millisecond)
	}
	return -1
}

// dispatch handles an event. A panic ends the connection that the event is for, and
// nothing else.
func (l *loop) dispatch(s source, events uint32) {
	l.current = nil
	defer l.recovered()
	s.ready(l, events)
}

func (l *loop) recovered() {
	p := recover()
	if p == nil {
		return
	}
	l.e.Config.Logger.ErrorContext(l.ctx, "connection panicked", "panic", p, "stack", string(debug.Stack()))
	if c := l.current; c != nil {
		l.dropExchange(c)
		l.closeClient(c)
	}
}

// isOver reports whether the loop has ended; from then on, post refuses.
func (l *loop) isOver() bool {
	if !l.closing || l.clients.Load() > 0 {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = len(l.inbox) == 0
	return l.ended
}

func (l *loop) close() {
	for _, list := range l.spares {
		for _, up := range list {
			_ = unix.Close(up.fd)
		}
	}
	_ = unix.Close(l.wake)
	_ = unix.Close(l.ep)
}

// add makes s the receiver of the events of a descriptor.
func (l *loop) add(fd int, s source, events uint32) error {
	if fd >= len(l.slots) {
		l.slots = slices.Concat(l.slots, make([]slot, max(64, fd+1-len(l.slots), len(l.slots))))
	}
	l.gen++
	l.slots[fd] = slot{s, l.gen}
	return l.control(unix.EPOLL_CTL_ADD, fd, events)
}

func (l *loop) control(op, fd int, events uint32) error {
	return unix.EpollCtl(l.ep, op, fd, &unix.EpollEvent{Events: events, Fd: int32(fd), Pad: l.slots[fd].gen}) //nolint:gosec // G115: a descriptor
}

// forget ends the events of a descriptor that stays open elsewhere.
func (l *loop) forget(fd int) {
	_ = l.control(unix.EPOLL_CTL_DEL, fd, 0)
	l.slots[fd] = slot{}
}

// closeFD closes a descriptor of the loop.
func (l *loop) closeFD(fd int) {
	l.slots[fd] = slot{}
	_ = unix.Close(fd)
}

// post makes the loop call f. It reports whether the loop will; it will not after its
// end. It may be called from any goroutine.
func (l *loop) post(f func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return false
	}
	l.inbox = append(l.inbox, f)
	if len(l.inbox) == 1 {
		_, _ = unix.Write(l.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	}
	return true
}

// inbox receives the event that post has been called.
type inbox struct{}

func (inbox) ready(l *loop, _ uint32) {
	_, err := unix.Read(l.wake, l.in[:8])
	if err != nil && !errors.Is(err, unix.EAGAIN) {
		return
	}
	l.mu.Lock()
	list := l.inbox
	l.inbox = nil
	l.mu.Unlock()
	for _, f := range list {
		l.dispatch(posted(f), 0)
	}
}

// posted is an argument of post.
type posted func()

func (f posted) ready(*loop, uint32) { f() }
