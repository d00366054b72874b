package door

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/svc"
)

// What is kept of the lines of one event.
const (
	maxLines = 1000
	maxBytes = 256 << 10
)

// recording is what the worker prints while an event runs. The Door's mutex
// guards it until ended is closed.
type recording struct {
	mark      string
	ended     chan struct{} // closed when the mark was read
	lines     []svc.LogLine
	bytes     int
	dropped   int
	exception string // the last one
	event     svc.Event
}

func newRecording(secret string, n int, e svc.Event) *recording {
	return &recording{mark: secret + "." + strconv.Itoa(n), ended: make(chan struct{}), event: e}
}

// Line takes a line that workerd printed. It reports false for one that is the
// door's own, and so not for the worker's log. Call it in the order of the lines.
func (d *Door) Line(l workerd.LogLine) bool {
	if l.Source == workerd.SourceNoRetry {
		d.noRetry(l.Message)
		return false
	}
	own := strings.HasPrefix(l.Message, d.secret)
	if !own && d.inside.Load() == 0 {
		return true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !own {
		for _, r := range d.events {
			r.add(l)
		}
		return true
	}
	if r := d.events[l.Message]; r != nil && !r.over() {
		close(r.ended)
	}
	return false
}

// noRetry tells the callers of the scheduled runs that a call of noRetry names.
func (d *Door) noRetry(text string) {
	var named struct {
		Cron string  `json:"cron"`
		Time float64 `json:"time"` // milliseconds since 1970
	}
	if json.Unmarshal([]byte(text), &named) != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range d.events {
		e := r.event
		if run := e.Scheduled; run != nil && e.NoRetry != nil && run.Cron == named.Cron && run.Time.UnixMilli() == int64(named.Time) {
			e.NoRetry()
		}
	}
}

func (r *recording) over() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

// add records a line unless it belongs to a request: ids of events begin with "~".
func (r *recording) add(l workerd.LogLine) {
	if r.over() || l.ID != "" && l.ID[0] != '~' {
		return
	}
	if l.Time.IsZero() {
		l.Time = time.Now().UTC()
	}
	if l.Source == workerd.SourceException {
		r.exception = l.Message
	}
	if len(r.lines) == maxLines || r.bytes+len(l.Message) > maxBytes {
		r.dropped++
		return
	}
	r.bytes += len(l.Message)
	r.lines = append(r.lines, svc.LogLine{Time: l.Time, Level: l.Level, Source: string(l.Source), Message: l.Message})
}

// record adds what was recorded to the result of the event.
func (d *Door) record(r *recording, to *svc.EventResult) {
	d.mu.Lock()
	defer d.mu.Unlock()
	to.Logs, to.LogsDropped = append([]svc.LogLine{}, r.lines...), r.dropped
	if to.Outcome != svc.OutcomeException {
		return
	}
	if r.exception != "" {
		to.Error = eventError(r.exception)
	} else if to.Error.Message == "" {
		to.Error.Message = "the event failed, and the worker's log does not say why"
	}
}

// named is the name of an error before its message.
var named = regexp.MustCompile(`^([\w$.]+): `)

// eventError reads an exception as workerd's log has it: "Name: message", and the
// frames of the stack where there is one.
func eventError(exception string) *svc.EventError {
	e := &svc.EventError{Message: exception}
	head, _, hasStack := strings.Cut(exception, "\n    at ")
	if !hasStack {
		return e
	}
	e.Message, e.Stack = head, exception
	if m := named.FindStringSubmatch(head); m != nil {
		e.Name, e.Message = m[1], head[len(m[0]):]
	}
	return e
}
