package routefeed

import (
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// Report is what a gateway says about itself.
type Report struct {
	Instance   string    `json:"instance"`
	Generation uint64    `json:"generation"`
	Listens    string    `json:"listens"`
	Requests   uint64    `json:"requests"`
	Inflight   int       `json:"inflight"`
	Websockets int       `json:"websockets"`
	Rouse      []svc.Ref `json:"rouse,omitempty"`
	Asked      []svc.Ref `json:"asked,omitempty"`
	Finished   []Request `json:"finished,omitempty"`
	Dropped    uint64    `json:"dropped,omitempty"` // finished requests that are in no report
}

// Request is a finished request, as the gateway observed it.
type Request struct {
	Ref      svc.Ref       `json:"ref"`
	Role     svc.Role      `json:"role,omitempty"`
	Status   int           `json:"status"`
	Error    string        `json:"error,omitempty"`
	Threw    bool          `json:"threw,omitempty"`
	Start    time.Time     `json:"start"`
	Duration time.Duration `json:"duration"` // in nanoseconds
	Bytes    int64         `json:"bytes"`
	ID       string        `json:"id"`
	Trace    string        `json:"trace,omitempty"`
	Parent   string        `json:"parent,omitempty"`
	ClientID string        `json:"client_id,omitempty"`
	Method   string        `json:"method,omitempty"`
	Target   string        `json:"target,omitempty"`
}

const (
	// maxRequests is the number of finished requests that wait for a report.
	maxRequests = 10_000
	// maxRefs is the number of versions in a report that were asked for.
	maxRefs = 1000
)

// outbox holds what the next report says.
type outbox struct {
	mu    sync.Mutex
	next  Report // without numbers
	total uint64
	soon  chan struct{} // has an element when the next report is urgent
}

func newOutbox() *outbox { return &outbox{soon: make(chan struct{}, 1)} }

// finished adds a request. If too many wait it is only counted.
func (o *outbox) finished(r Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.total++; len(o.next.Finished) >= maxRequests {
		o.next.Dropped++
		return
	}
	o.next.Finished = append(o.next.Finished, r)
}

// counted counts a request that needs no report.
func (o *outbox) counted() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.total++
}

// ask adds a version to one of the lists of an urgent report.
func (o *outbox) ask(list func(*Report) *[]svc.Ref, ref svc.Ref) {
	o.mu.Lock()
	if refs := list(&o.next); len(*refs) < maxRefs {
		*refs = append(*refs, ref)
	}
	o.mu.Unlock()
	select {
	case o.soon <- struct{}{}:
	default:
	}
}

// take returns the next report, which back returns if it could not be sent.
func (o *outbox) take() Report {
	o.mu.Lock()
	defer o.mu.Unlock()
	r := o.next
	r.Requests, o.next = o.total, Report{}
	return r
}

func (o *outbox) back(r Report) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.next.Finished = append(r.Finished, o.next.Finished...)
	if over := len(o.next.Finished) - maxRequests; over > 0 {
		o.next.Finished = o.next.Finished[over:]
		r.Dropped += uint64(over)
	}
	o.next.Dropped += r.Dropped
	o.next.Rouse = append(r.Rouse, o.next.Rouse...)
	o.next.Asked = append(r.Asked, o.next.Asked...)
	o.next.Rouse = o.next.Rouse[:min(len(o.next.Rouse), maxRefs)]
	o.next.Asked = o.next.Asked[:min(len(o.next.Asked), maxRefs)]
}
