package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// ErrClosed says that the other end of the line is gone.
var ErrClosed = errors.New("the control line is closed")

// writeTimeout is how long a message may wait for a peer that does not read.
const writeTimeout = 5 * time.Second

// The methods. A cancel names the request it is about and has no answer; exited
// and requests are what a host says unasked.
const (
	methodOpen    = "open"
	methodPrepare = "prepare"
	methodServe   = "serve"
	methodPing    = "ping"
	methodCut     = "cut"
	methodArchive = "archive"
	methodStop    = "stop"
	methodCancel  = "cancel"
	methodExited  = "exited"

	methodRequests = "requests"
)

// frame is one line: a request has a method, an answer has none.
type frame struct {
	ID     int64           `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Body   json.RawMessage `json:"body,omitempty"`
	Error  *failure        `json:"error,omitempty"`
}

// failure is a svc.Error on the wire. The cause travels as text, for logs.
type failure struct {
	Kind       svc.Kind         `json:"kind"`
	Code       string           `json:"code"`
	Detail     string           `json:"detail"`
	Hint       string           `json:"hint,omitempty"`
	Fields     []svc.FieldError `json:"fields,omitempty"`
	RetryAfter time.Duration    `json:"retry_after,omitempty"`
	Cause      string           `json:"cause,omitempty"`
}

func toFailure(err error) *failure {
	e := svc.AsError(err)
	if e == nil {
		return nil
	}
	f := &failure{Kind: e.Kind, Code: e.Code, Detail: e.Detail, Hint: e.Hint, Fields: e.Fields, RetryAfter: e.RetryAfter}
	if e.Err != nil {
		f.Cause = e.Err.Error()
	}
	return f
}

func (f *failure) err() error {
	e := &svc.Error{Kind: f.Kind, Code: f.Code, Detail: f.Detail, Hint: f.Hint, Fields: f.Fields, RetryAfter: f.RetryAfter}
	if f.Cause != "" {
		e.Err = errors.New(f.Cause)
	}
	return e
}

// line writes and reads frames.
type line struct {
	conn net.Conn
	dec  *json.Decoder // for one reader
	mu   sync.Mutex    // held while writing
}

func newLine(conn net.Conn) *line { return &line{conn: conn, dec: json.NewDecoder(conn)} }

func (l *line) write(f frame, body any) error {
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("encoding %s: %w", f.Method, err)
		}
		f.Body = raw
	}
	data, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("encoding a control message: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.conn.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return closedErr(err)
	}
	if _, err := l.conn.Write(append(data, '\n')); err != nil {
		return closedErr(err)
	}
	return nil
}

func (l *line) read() (frame, error) {
	var f frame
	if err := l.dec.Decode(&f); err != nil {
		if errors.Is(err, io.EOF) {
			return f, ErrClosed
		}
		return f, closedErr(err)
	}
	return f, nil
}

func closedErr(err error) error { return fmt.Errorf("%w: %w", ErrClosed, err) }
