package logs

import (
	"errors"
	"io/fs"
	"log/slog"
	"sync"

	"github.com/svcctl/svcctl/internal/lib/ring"
	"github.com/svcctl/svcctl/internal/svc"
)

// Recorder writes the entries of requests. It is safe for concurrent use, and waits for no
// disk except at the first request of a version.
type Recorder struct {
	dir    func(svc.Ref) string
	logger *slog.Logger

	records sync.Pool // *[]byte

	mu     sync.RWMutex // guards rings
	rings  map[svc.Ref]*ring.Writer
	closed bool
}

// NewRecorder makes a Recorder for versions whose log directory is dir(ref).
func NewRecorder(dir func(svc.Ref) string, logger *slog.Logger) *Recorder {
	r := &Recorder{dir: dir, logger: logger, rings: map[svc.Ref]*ring.Writer{}}
	r.records.New = func() any { b := make([]byte, 0, 512); return &b }
	return r
}

// Record writes an entry of ref. l is not kept. A version without a log directory, one that
// never ran or was destroyed, has no log.
func (r *Recorder) Record(ref svc.Ref, l *svc.LogLine) {
	w := r.ring(ref)
	if w == nil {
		return
	}
	b, _ := r.records.Get().(*[]byte)
	*b = svc.AppendLog((*b)[:0], l)
	w.Append(*b)
	r.records.Put(b)
}

// ring returns the ring of ref, nil for none.
func (r *Recorder) ring(ref svc.Ref) *ring.Writer {
	r.mu.RLock()
	w := r.rings[ref]
	r.mu.RUnlock()
	if w != nil {
		return w
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if w = r.rings[ref]; w != nil || r.closed {
		return w
	}
	w, err := ring.Open(r.dir(ref), svc.LogsOfGateway, ring.Options{
		SegmentSize: svc.LogSegmentSize, Segments: svc.LogSegments, Failed: func(err error) { r.failed(ref, err) },
	})
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			r.failed(ref, err)
		}
		return nil
	}
	r.rings[ref] = w
	return w
}

func (r *Recorder) failed(ref svc.Ref, err error) {
	r.logger.Warn("the request log of a version cannot be written", "project", ref.Project, "version", ref.Version, "error", err)
}

// Forget ends the writing for a version whose route is gone.
func (r *Recorder) Forget(ref svc.Ref) {
	r.mu.Lock()
	w := r.rings[ref]
	delete(r.rings, ref)
	r.mu.Unlock()
	if w != nil {
		_ = w.Close() // reported to failed
	}
}

// Close writes what waits. Later entries are dropped.
func (r *Recorder) Close() {
	r.mu.Lock()
	rings := r.rings
	r.rings, r.closed = map[svc.Ref]*ring.Writer{}, true
	r.mu.Unlock()
	for _, w := range rings {
		_ = w.Close() // reported to failed
	}
}
