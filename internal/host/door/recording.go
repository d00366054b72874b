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
	id        string // of the invocation; "" until it prints something
}

func newRecording(secret string, n int, e svc.Event) *recording {
	return &recording{mark: secret + "." + strconv.Itoa(n), ended: make(chan struct{}), event: e}
}

// Line takes a line that workerd printed. It reports false for one that is the
// door's own, and so not for the worker's log. Call it in the order of the lines.
func (d *Door) Line(l workerd.LogLine) bool {
	switch l.Source {
	case workerd.SourceNamed:
		d.name(l)
		return false
	case workerd.SourceNoRetry:
		d.noRetry(l.ID)
		return false
	case workerd.SourceSpans:
		return false
	case workerd.SourceEnded:
		return true
	case workerd.SourceConsole, workerd.SourceException, workerd.SourceRuntime:
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

// name gives the event that l names the id of its invocation.
func (d *Door) name(l workerd.LogLine) {
	var named identity
	if json.Unmarshal([]byte(l.Message), &named) != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range d.events {
		if r.id == "" && named == identityOf(r.event) {
			r.id = l.ID
			return
		}
	}
}

// identity is what a worker knows of the event that it has.
type identity struct {
	Cron     string  `json:"cron"`
	Time     float64 `json:"time"` // milliseconds since 1970
	Queue    string  `json:"queue"`
	Message  string  `json:"message"` // id of the first one
	Workflow string  `json:"workflow"`
	Instance string  `json:"instance"`
}

func identityOf(e svc.Event) (i identity) {
	switch {
	case e.Scheduled != nil:
		i.Cron, i.Time = e.Scheduled.Cron, float64(e.Scheduled.Time.UnixMilli())
	case e.Queue != nil && len(e.Queue.Messages) > 0:
		i.Queue, i.Message = e.Queue.Queue, e.Queue.Messages[0].ID
	case e.Workflow != nil:
		i.Workflow, i.Instance = e.Workflow.Workflow, e.Workflow.Instance
	}
	return i
}

// noRetry tells the caller of the scheduled run id.
func (d *Door) noRetry(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range d.events {
		if r.id == id && r.event.NoRetry != nil {
			r.event.NoRetry()
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
	if l.Source == workerd.SourceException && (l.ID == r.id || l.ID == "" || r.id == "") {
		r.exception = l.Message
	}
	if len(r.lines) == maxLines || r.bytes+len(l.Message) > maxBytes {
		r.dropped++
		return
	}
	r.bytes += len(l.Message)
	r.lines = append(r.lines, svc.LogLine{Time: l.Time, Level: l.Level, Source: string(l.Source), Message: l.Message, RequestID: l.ID})
}

// record adds what was recorded to the result of the event.
func (d *Door) record(r *recording, to *svc.EventResult) {
	d.mu.Lock()
	defer d.mu.Unlock()
	to.RequestID, to.Logs, to.LogsDropped = r.id, append([]svc.LogLine{}, r.lines...), r.dropped
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
