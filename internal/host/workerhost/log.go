package workerhost

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/lib/ring"
	"github.com/svcctl/svcctl/internal/svc"
)

// logbook is the worker's log, the ring svc.LogsOfWorker. It never fails its caller, which
// must continue reading what workerd prints: lines that cannot be written are lost, and the
// host's own log has the reason once.
type logbook struct {
	ring     *ring.Writer
	redactor *svc.Redactor
	log      *slog.Logger

	mu     sync.Mutex // guards what follows
	record []byte
	failed bool
}

// openLog continues the log in dir. The values of env do not appear in it.
func openLog(dir string, env map[string]string, log *slog.Logger) (l *logbook, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the log directory: %w", err)
	}
	for _, name := range []string{"worker.log", "worker.log.1"} { // of earlier releases
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("removing an old log: %w", err)
		}
	}
	l = &logbook{redactor: svc.NewRedactor(env), log: log}
	l.ring, err = ring.Open(dir, svc.LogsOfWorker, ring.Options{
		SegmentSize: svc.LogSegmentSize, Segments: svc.LogSegments, Failed: l.fail,
	})
	return l, err
}

func (l *logbook) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.failed {
		l.failed = true
		l.log.Error("the worker's log cannot be written", "error", err)
	}
}

// Write appends a line that workerd printed. Its time is the present: that of a worker is in
// whole milliseconds.
func (l *logbook) Write(line workerd.LogLine) {
	if line.Source == workerd.SourceNamed || line.Source == workerd.SourceNoRetry || line.Source == workerd.SourceSpans {
		return // for a door, which this worker does not have
	}
	entry := &svc.LogLine{Level: line.Level, Source: string(line.Source), Message: line.Message, RequestID: line.ID}
	if line.Source == workerd.SourceEnded {
		entry = ended(line)
	}
	l.write(entry)
}

func (l *logbook) write(line *svc.LogLine) {
	line.Time = time.Now()
	line.Message = l.clean(line.Message)
	if i := line.Invocation; i != nil {
		i.Detail = l.clean(i.Detail)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.record = svc.AppendLog(l.record[:0], line)
	l.ring.Append(l.record)
}

// clean is text without what does not appear in the log.
func (l *logbook) clean(text string) string {
	return svc.ClipLog(svc.HideCredentials(l.redactor.Redact(text)))
}

// Close writes what waits; later lines are dropped.
func (l *logbook) Close() error { return l.ring.Close() }
