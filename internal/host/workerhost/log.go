package workerhost

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/svc"
)

// The worker's log is two files of at most maxLogFile bytes each: logName, and
// the one before it.
const (
	logName    = "worker.log"
	oldLogName = "worker.log.1"
	maxLogFile = 4 << 20
)

// logFile appends to worker.log. It never fails its caller, which must continue
// reading what workerd prints: lines that cannot be written are lost, and the
// host's own log has the reason once.
type logFile struct {
	dir string
	log *slog.Logger

	mu     sync.Mutex // guards what follows
	file   *os.File   // nil after Close
	size   int64
	failed bool
}

func openLog(dir string, log *slog.Logger) (*logFile, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the log directory: %w", err)
	}
	l := &logFile{dir: dir, log: log}
	if err := l.open(); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func (l *logFile) open() error {
	f, err := os.OpenFile(filepath.Join(l.dir, logName), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("opening the worker's log: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	l.file, l.size = f, info.Size()
	return l.endLine()
}

// endLine ends the line that a host was killed in the middle of.
func (l *logFile) endLine() error {
	if l.size == 0 {
		return nil
	}
	var last [1]byte
	if _, err := l.file.ReadAt(last[:], l.size-1); err != nil {
		return fmt.Errorf("reading the worker's log: %w", err)
	}
	if last[0] == '\n' {
		return nil
	}
	return l.append([]byte{'\n'})
}

// Write appends one line. A line without a time gets the present.
func (l *logFile) Write(line workerd.LogLine) {
	if line.Time.IsZero() {
		line.Time = time.Now().UTC()
	}
	data, err := json.Marshal(svc.LogLine{Time: line.Time, Level: line.Level, Source: string(line.Source), Message: line.Message})
	if err != nil {
		return // strings and a time always encode
	}
	data = append(data, '\n')
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return
	}
	if err := l.append(data); err != nil && !l.failed {
		l.failed = true
		l.log.Error("the worker's log cannot be written", "error", err)
	}
}

func (l *logFile) append(data []byte) error {
	if l.size > 0 && l.size+int64(len(data)) > maxLogFile {
		if err := l.rotate(); err != nil {
			return err
		}
	}
	n, err := l.file.Write(data)
	l.size += int64(n)
	return err
}

// rotate keeps the old file open when the new one cannot be.
func (l *logFile) rotate() error {
	old := l.file
	err := os.Rename(filepath.Join(l.dir, logName), filepath.Join(l.dir, oldLogName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := l.open(); err != nil {
		return err
	}
	return old.Close()
}

// Close ends the log; later lines are dropped.
func (l *logFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	f := l.file
	l.file = nil
	return f.Close()
}
