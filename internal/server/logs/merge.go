package logs

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/lib/ring"
	"github.com/svcctl/svcctl/internal/svc"
)

// position is a place in the log of one version: the last entries that were read.
type position struct {
	version          string
	worker, requests uint64
}

// source is one of the two rings, with the entry that is next.
type source struct {
	reader *ring.Reader
	last   uint64
	head   svc.LogLine
	n      uint64 // number of head; 0 for no head
}

// fill makes sure that there is a head, if the ring has an entry.
func (s *source) fill() error {
	for s.n == 0 {
		n, data, ok, err := s.reader.Next()
		if err != nil || !ok {
			return err
		}
		line, ok := svc.ParseLog(data)
		if !ok {
			continue // cut by a crash
		}
		s.head, s.n = line, n
	}
	return nil
}

// take returns the head, or the gap before it.
func (s *source) take() svc.LogLine {
	l := s.head
	if lost := s.n - s.last - 1; lost > 0 {
		s.last = s.n - 1
		return svc.LogLine{Time: l.Time, Level: "warn", Source: svc.LogGap, Message: fmt.Sprintf("%d entries are no longer kept", lost)}
	}
	s.last, s.n = s.n, 0
	return l
}

// merge reads both rings of a version, by time.
type merge struct {
	version          string
	worker, requests source
	failed           exceptions // of requests whose entry was not read yet
}

func newMerge(dir string, at position) *merge {
	return &merge{
		version:  at.version,
		worker:   source{reader: ring.NewReader(dir, svc.LogsOfWorker, at.worker), last: at.worker},
		requests: source{reader: ring.NewReader(dir, svc.LogsOfGateway, at.requests), last: at.requests},
	}
}

// next returns the next entry; ok is false at the end.
func (m *merge) next() (l svc.LogLine, ok bool, err error) {
	if err := errors.Join(m.worker.fill(), m.requests.fill()); err != nil {
		return l, false, fmt.Errorf("reading the log of %s: %w", m.version, err)
	}
	from := &m.worker
	if m.worker.n == 0 || m.requests.n != 0 && m.requests.head.Time.Before(m.worker.head.Time) {
		from = &m.requests
	}
	if from.n == 0 {
		return l, false, nil
	}
	l = from.take()
	m.failed.note(&l)
	return l, true, nil
}

func (m *merge) position() position {
	return position{m.version, m.worker.last, m.requests.last}
}

func (m *merge) close() error { return errors.Join(m.worker.reader.Close(), m.requests.reader.Close()) }

// exceptions remembers which requests threw, for their outcome.
type exceptions struct {
	ids  map[string]bool
	ring [1024]string
	at   int
}

func (e *exceptions) note(l *svc.LogLine) {
	switch {
	case l.RequestID == "":
	case l.Source == svc.LogException:
		if e.ids == nil {
			e.ids = map[string]bool{}
		}
		delete(e.ids, e.ring[e.at])
		e.ids[l.RequestID], e.ring[e.at] = true, l.RequestID
		e.at = (e.at + 1) % len(e.ring)
	case l.Source == svc.LogRequest && l.Invocation.Status >= 500 && e.ids[l.RequestID]:
		l.Invocation.Outcome = string(svc.OutcomeException)
	}
}

// start is where a page without a cursor begins: at since, or tail entries of each ring
// before the end; tail 0 is the oldest entry.
func start(dir, version string, since time.Time, tail int) (position, error) {
	worker, err := startOf(dir, svc.LogsOfWorker, since, tail)
	if err != nil {
		return position{}, fmt.Errorf("reading the log of %s: %w", version, err)
	}
	requests, err := startOf(dir, svc.LogsOfGateway, since, tail)
	if err != nil {
		return position{}, fmt.Errorf("reading the log of %s: %w", version, err)
	}
	return position{version, worker, requests}, nil
}

func startOf(dir, name string, since time.Time, tail int) (uint64, error) {
	first, err := ring.First(dir, name)
	switch {
	case err != nil:
		return 0, err
	case !since.IsZero():
		return ring.Since(dir, name, since)
	case tail == 0:
		return first, nil
	}
	last, err := ring.Last(dir, name)
	return max(last-min(last, uint64(tail)), first), err //nolint:gosec // tail is positive
}

// A cursor is a position as text: "version.worker.requests", with numbers in base 36.
func (p position) cursor() string {
	return fmt.Sprintf("%s.%s.%s", p.version, base36(p.worker), base36(p.requests))
}

func readCursor(text string) (p position, err error) {
	parts := strings.Split(text, ".")
	if len(parts) == 3 {
		p.version = parts[0]
		if p.worker, err = fromBase36(parts[1]); err == nil {
			if p.requests, err = fromBase36(parts[2]); err == nil {
				return p, nil
			}
		}
	}
	return p, errCursor()
}

func base36(n uint64) string                 { return strconv.FormatUint(n, 36) }
func fromBase36(text string) (uint64, error) { return strconv.ParseUint(text, 36, 64) }

func errCursor() error {
	return svc.Errorf(svc.BadRequest, svc.CodeInvalidCursor, "the cursor does not belong to this log").WithHint("start again without a cursor")
}
