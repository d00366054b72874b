package database

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

// sectionTime and sectionBytes are how long calls of a request run on a connection, and how
// large their answers become, before the connection is given to other requests.
const (
	sectionTime  = 10 * time.Millisecond
	sectionBytes = 1 << 20
	maxAnswers   = 16 << 20 // bytes; the worker sends the calls again that come after them
)

// call is one call of a worker: statements that are one transaction.
type call struct {
	Objects    bool    `json:"objects"` // rows are objects, not arrays
	At         *string `json:"at"`      // where its session is; nil without one
	Statements []query `json:"statements"`

	writes  bool  // it does not look like it only reads
	invalid error // why it cannot be run
}

// shape is the shape of its rows.
func (k *call) shape() format {
	if k.Objects {
		return asObjects
	}
	return asArrays
}

// prepare drops empty statements, and looks at what the others are.
func (k *call) prepare() {
	for i := range k.Statements {
		k.Statements[i].SQL = cut(k.Statements[i].SQL)
	}
	k.Statements = slices.DeleteFunc(k.Statements, func(q query) bool { return q.SQL == "" })
	if k.invalid == nil && len(k.Statements) == 0 {
		k.invalid = errNoStatements
	}
	k.writes = slices.ContainsFunc(k.Statements, func(q query) bool { return !mayRead(q.SQL) })
}

// mayRead reports that text looks like it only reads.
func mayRead(text string) bool {
	switch keyword(text) {
	case "select", "values", "with", "explain":
		return true
	}
	return false
}

// readCalls reads a request's body, to its end: an array of calls. A call that cannot be
// read is invalid and does not affect the others.
func readCalls(r *http.Request, large *binding.Large) ([]call, error) {
	body, err := readBody(r, large)
	if err != nil {
		return nil, err
	}
	return parseCalls(body)
}

// readURL reads the array in the URL of a request.
func readURL(array string) ([]call, error) {
	text, err := url.PathUnescape(array)
	if err != nil {
		return nil, errUnreadable(err)
	}
	return parseCalls([]byte(text))
}

func parseCalls(body []byte) ([]call, error) {
	var calls []call
	if err := json.Unmarshal(body, &calls); err != nil {
		if calls, err = readEach(body); err != nil {
			return nil, errUnreadable(err)
		}
	}
	for i := range calls {
		calls[i].prepare()
	}
	return calls, nil
}

func readEach(body []byte) ([]call, error) {
	var texts []json.RawMessage
	if err := json.Unmarshal(body, &texts); err != nil {
		return nil, err
	}
	calls := make([]call, len(texts))
	for i, text := range texts {
		if err := json.Unmarshal(text, &calls[i]); err != nil {
			calls[i].invalid = errUnreadable(err)
		}
	}
	return calls, nil
}

// answers are the answers of a request, a JSON array. They may be fewer than the calls.
type answers struct {
	Buffer *bytes.Buffer
	n      int
	grow   func() error // is called before Buffer becomes large; nil for none
}

// begin writes what is before an answer, and returns where the answer begins.
func (a *answers) begin() int {
	if a.n > 0 {
		a.Buffer.WriteByte(',')
	}
	a.n++
	return a.Buffer.Len()
}

// fail replaces what was written from at on by an error.
func (a *answers) fail(at int, err error) {
	a.Buffer.Truncate(at)
	a.Buffer.WriteString(`{"error":`)
	a.Buffer.Write(appendString(a.Buffer.AvailableBuffer(), describe(err)))
	a.Buffer.WriteByte('}')
}

// run runs calls one after another, each as a transaction, until all are answered or the
// answers are large. An error of ctx leaves the rest unanswered.
func (d *database) run(ctx context.Context, calls []call, out *answers) {
	out.Buffer.WriteByte('[')
	for len(calls) > 0 && ctx.Err() == nil && out.Buffer.Len() <= maxAnswers {
		s := section{database: d, calls: calls[:alike(calls)], out: out, write: calls[0].writes}
		s.run(ctx)
		calls = calls[s.done:]
	}
	out.Buffer.WriteByte(']')
}

// alike is how many of calls run on one connection: reads up to the first write, or all up
// to the last write. Reads after that must not hold up the writes of other requests.
func alike(calls []call) int {
	first, last := len(calls), 0
	for i := range calls {
		if calls[i].writes {
			first, last = min(first, i), i+1
		}
	}
	if first > 0 {
		return first
	}
	return last
}

// section are calls that run on one connection: reads, or on the connection that writes any.
type section struct {
	database *database
	calls    []call
	out      *answers
	write    bool
	done     int // how many calls were answered
}

// run answers at least one call, unless that needs to write. An error of the connection is
// the answer to all calls: the next section would have it too. A read-only project refuses writes alone.
func (s *section) run(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, maxDuration)
	defer cancel()
	size, n := s.out.Buffer.Len(), s.out.n
	use := s.database.db.Read
	if s.write {
		use = s.database.db.Write
	}
	err := use(ctx, func(c *raw.Conn) error { return s.on(ctx, c) })
	if err == nil {
		return
	}
	s.out.Buffer.Truncate(size)
	s.out.n = n
	failed := s.calls
	if s.write && svc.CodeOf(err) == svc.CodeProjectReadOnly {
		failed = failed[:1] // reads may follow it
	}
	for range failed {
		s.out.fail(s.out.begin(), err)
	}
	s.done = len(failed)
}

// on runs calls on c, and leaves c to others after some time.
func (s *section) on(ctx context.Context, c *raw.Conn) error {
	if !s.write && len(s.calls) > 1 { // one view for all, and no lock for each
		if err := c.Exec("BEGIN"); err != nil {
			return err
		}
		defer func() {
			if c.InTransaction() {
				_ = c.Exec("COMMIT") // of a transaction that has only read
			}
		}()
	}
	limit, started := s.out.Buffer.Len()+sectionBytes, time.Now()
	for s.done < len(s.calls) && ctx.Err() == nil {
		if s.done > 0 && (s.out.Buffer.Len() > limit || time.Since(started) > sectionTime) {
			break
		}
		k := &s.calls[s.done]
		if k.writes = s.answer(c, k) || k.writes; k.writes && !s.write {
			break
		}
		s.done++
	}
	return nil
}

// answer runs one call, and reports whether that takes the connection that writes.
func (s *section) answer(c *raw.Conn, k *call) (needsWrite bool) {
	size, n := s.out.Buffer.Len(), s.out.n
	at := s.out.begin()
	err := k.invalid
	if err == nil {
		s.out.Buffer.WriteString(`{"results":`)
		err = s.database.transact(c, k, s.write, s.out)
	}
	switch {
	case errors.Is(err, errNeedWrite) && !s.write:
		s.out.Buffer.Truncate(size)
		s.out.n = n
		return true
	case err != nil:
		s.out.fail(at, err)
		return false
	}
	if k.At != nil && strings.TrimSpace(*k.At) != "" {
		s.out.Buffer.WriteString(`,"bookmark":"`)
		s.out.Buffer.WriteString(s.database.bookmarks.next())
		s.out.Buffer.WriteByte('"')
	}
	s.out.Buffer.WriteByte('}')
	return false
}

// transact runs a call on c as a transaction and writes its results, a JSON array, to out.
func (d *database) transact(c *raw.Conn, k *call, write bool, out *answers) error {
	x := d.execution(c, k.shape(), out.Buffer)
	x.grow = out.grow
	if !write {
		x.policy.reader = true
		if c.InTransaction() || len(k.Statements) == 1 { // a statement is a transaction of its own
			return x.guarded(k.Statements)
		}
		return c.InTx("BEGIN", func() error { return x.guarded(k.Statements) })
	}
	defer x.resetSettings()
	err := c.InTx("BEGIN IMMEDIATE", func() error { return x.guarded(k.Statements) })
	if err != nil || c.TotalChanges() != x.before.changes { // full text search writes when it is committed
		d.remember(c)
		return err
	}
	d.last.Store(&x.before) // the last statement has asked, within its transaction
	return nil
}
