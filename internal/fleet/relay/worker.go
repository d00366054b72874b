package relay

import (
	"errors"
	"net"
	"syscall"
)

// worker is a session's connection to a runtime. A goroutine copies what the runtime sends.
type worker struct {
	x    *session
	nc   net.Conn
	done chan struct{}

	// x.mu guards the fields below.
	reused   bool  // it has served an earlier request
	answered bool  // the runtime has sent something to the request in progress
	failed   error // of a write
	ended    bool  // the runtime has closed it
}

func newWorker(x *session, nc net.Conn) *worker {
	w := &worker{x: x, nc: nc, done: make(chan struct{})}
	go w.copy()
	return w
}

// again prepares the connection for another request. It reports false if it has ended.
func (w *worker) again() bool {
	w.x.mu.Lock()
	defer w.x.mu.Unlock()
	w.reused, w.answered = true, false
	return !w.ended && w.failed == nil
}

// copy copies from the runtime to the gateway until one of them ends.
func (w *worker) copy() {
	defer close(w.done)
	buf := make([]byte, headSize+maxFrame/2)
	for {
		n, err := w.nc.Read(buf[headSize:])
		if n > 0 {
			err = w.pass(buf[:headSize+n])
		}
		if err != nil {
			w.over(err)
			return
		}
	}
}

// pass sends b, which begins with room for the head of a frame, as one.
func (w *worker) pass(b []byte) error {
	w.x.mu.Lock()
	defer w.x.mu.Unlock()
	if w.x.adm == nil {
		return errProtocol // bytes that belong to no request
	}
	w.answered = true
	appendHead(b[:0], kindData, len(b)-headSize)
	_, err := w.x.nc.Write(b)
	return err
}

// over ends the request in progress: the connection to the gateway ends, unless the runtime
// has not read the request. Between two requests only the runtime's connection ends.
func (w *worker) over(err error) {
	w.x.mu.Lock()
	defer w.x.mu.Unlock()
	w.ended = true
	_ = w.nc.Close()
	if w.x.adm == nil {
		return
	}
	unread := errors.Is(err, syscall.ECONNRESET) || errors.Is(w.failed, syscall.EPIPE) || errors.Is(w.failed, syscall.ECONNRESET)
	if w.reused && !w.answered && unread {
		_ = w.x.write(kindUnread, nil)
	}
	_ = w.x.nc.Close()
}

// fail records that a write has failed.
func (w *worker) fail(err error) {
	w.x.mu.Lock()
	defer w.x.mu.Unlock()
	if w.failed == nil {
		w.failed = err
	}
}

// close ends the connection and waits for its goroutine.
func (w *worker) close() {
	_ = w.nc.Close()
	<-w.done
}
