package workerd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"time"
)

// EventKind is the type of a control message.
type EventKind string

// The control messages.
const (
	EventListen    EventKind = "listen"           // Socket accepts connections
	EventInspector EventKind = "listen-inspector" // so does the inspector
)

// InspectorSocket is the name of the inspector among the sockets of AwaitListening.
const InspectorSocket = "inspector"

// Event is one message of the control pipe. Port is 0 for a unix socket.
type Event struct {
	Kind   EventKind `json:"event"`
	Socket string    `json:"socket"`
	Port   int       `json:"port"`
}

// ErrNotListening says that the control pipe ended before every socket
// listened: workerd has exited or is about to, and Explain knows why.
var ErrNotListening = errors.New("workerd ended before its sockets listened")

// ReadEvents gives the messages of the control pipe until it ends, which is
// when workerd exits. A message that cannot be read, and a failure of r, is
// given as the last pair.
func ReadEvents(r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		d := json.NewDecoder(r)
		for {
			var e Event
			err := d.Decode(&e)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(Event{}, fmt.Errorf("reading control messages: %w", err))
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// AwaitListening reads the control pipe until every named socket listens and
// gives the port of each (0 for a unix socket). To give up earlier, close r. It
// may have read past the last message it needed.
func AwaitListening(r io.Reader, sockets ...string) (map[string]int, error) {
	waiting := make(map[string]bool, len(sockets))
	for _, s := range sockets {
		waiting[s] = true
	}
	ports := make(map[string]int, len(sockets))
	if len(waiting) == 0 {
		return ports, nil
	}
	for e, err := range ReadEvents(wakeful(r)) {
		if err != nil {
			return ports, err
		}
		if e.Kind == EventInspector {
			e.Kind, e.Socket = EventListen, InspectorSocket
		}
		if e.Kind != EventListen || !waiting[e.Socket] {
			continue
		}
		ports[e.Socket] = e.Port
		if len(ports) == len(waiting) {
			return ports, nil
		}
	}
	return ports, ErrNotListening
}

// lookAgain is how long a read of the control pipe may sleep before it looks
// whether something came without its being woken.
const lookAgain = 100 * time.Millisecond

// deadliner is a pipe or a socket.
type deadliner interface {
	io.Reader
	SetReadDeadline(t time.Time) error
}

// wakeful reads r in short turns when it can. On a loaded machine a message was
// seen in the pipe for half a minute while its reader slept; a start must not
// depend on one wake-up.
func wakeful(r io.Reader) io.Reader {
	if d, ok := r.(deadliner); ok && d.SetReadDeadline(time.Time{}) == nil {
		return turns{d}
	}
	return r
}

type turns struct{ deadliner }

func (t turns) Read(p []byte) (int, error) {
	for {
		if err := t.SetReadDeadline(time.Now().Add(lookAgain)); err != nil {
			return 0, err
		}
		n, err := t.deadliner.Read(p)
		if n == 0 && errors.Is(err, os.ErrDeadlineExceeded) {
			continue
		}
		_ = t.SetReadDeadline(time.Time{}) // later reads have no time limit
		return n, err
	}
}
