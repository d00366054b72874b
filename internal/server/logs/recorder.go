package logs

import (
	"errors"
	"io/fs"
	"log/slog"
	"sync"

	"github.com/svcctl/svcctl/internal/lib/ring"
	"github.com/svcctl/svcctl/internal/svc"
)

// Recorder writes the entries of requests. It is safe for concurrent use. Record never waits
// for a disk: the event loops of the gateway call it.
type Recorder struct {
	dir    func(svc.Ref) string
	logger *slog.Logger

	records sync.Pool // *[]byte

	mu     sync.RWMutex // guards logs and closed
	logs   map[svc.Ref]*requestLog
	closed bool
}

// NewRecorder makes a Recorder for versions whose log directory is dir(ref).
func NewRecorder(dir func(svc.Ref) string, logger *slog.Logger) *Recorder {
	r := &Recorder{dir: dir, logger: logger, logs: map[svc.Ref]*requestLog{}}
	r.records.New = func() any { b := make([]byte, 0, 512); return &b }
	return r
}

// Record writes an entry of ref. l is not kept. A version without a log directory, one that
// never ran or was destroyed, has no log.
func (r *Recorder) Record(ref svc.Ref, l *svc.LogLine) {
	log := r.log(ref)
	if log == nil {
		return
	}
	b, _ := r.records.Get().(*[]byte)
	*b = svc.AppendLog((*b)[:0], l)
	log.append(*b)
	r.records.Put(b)
}

// log returns the log of ref, nil after Close. A new one is opened in the background.
func (r *Recorder) log(ref svc.Ref) *requestLog {
	r.mu.RLock()
	l := r.logs[ref]
	r.mu.RUnlock()
	if l != nil {
		return l
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if l = r.logs[ref]; l == nil && !r.closed {
		l = &requestLog{opened: make(chan struct{})}
		r.logs[ref] = l
		go r.open(ref, l)
	}
	return l
}

// open opens the log of ref. If that fails, the next request tries again.
func (r *Recorder) open(ref svc.Ref, l *requestLog) {
	defer close(l.opened)
	w, err := ring.Open(r.dir(ref), svc.LogsOfGateway, ring.Options{
		SegmentSize: svc.LogSegmentSize, Segments: svc.LogSegments, BusyDelay: busyDelay, Failed: func(err error) { r.failed(ref, err) },
	})
	if err == nil {
		l.begin(w)
		return
	}
	if !errors.Is(err, fs.ErrNotExist) {
		r.failed(ref, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.logs[ref] == l {
		delete(r.logs, ref)
	}
}

func (r *Recorder) failed(ref svc.Ref, err error) {
	r.logger.Warn("the request log of a version cannot be written", "project", ref.Project, "version", ref.Version, "error", err)
}

// Forget ends the writing for a version whose route is gone.
func (r *Recorder) Forget(ref svc.Ref) {
	r.mu.Lock()
	l := r.logs[ref]
	delete(r.logs, ref)
	r.mu.Unlock()
	if l != nil {
		l.close()
	}
}

// Close writes what waits. Later entries are dropped.
func (r *Recorder) Close() {
	r.mu.Lock()
	logs := r.logs
	r.logs, r.closed = map[svc.Ref]*requestLog{}, true
	r.mu.Unlock()
	for _, l := range logs {
		l.close()
	}
}
