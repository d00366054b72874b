package accesslog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

const (
	// maxPending bounds the memory of lines that the disk has not taken.
	maxPending = 4 << 20
	// flushAfter is how long a line may wait for others.
	flushAfter = 200 * time.Millisecond
)

// Log is the file of one server.
type Log struct {
	path   string
	write  func([]byte, *Entry) []byte
	logger *slog.Logger

	mu      sync.Mutex // guards pending and dropped
	pending []byte
	dropped int

	file  *os.File // of loop
	asked chan chan error
	stop  chan struct{}
	done  chan struct{}
}

// Open appends to the file at path, which only its owner and group read. ctx is for log lines:
// its end does not close the file.
func Open(ctx context.Context, path string, format Format, logger *slog.Logger) (*Log, error) {
	l := &Log{path: path, write: appendJSON, logger: logger, asked: make(chan chan error), stop: make(chan struct{}), done: make(chan struct{})}
	if format == Combined {
		l.write = appendCombined
	}
	if err := l.open(); err != nil {
		return nil, err
	}
	go l.loop(context.WithoutCancel(ctx))
	return l, nil
}

func (l *Log) open() error {
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o640) //nolint:gosec // for the tools of the operator's group
	if err != nil {
		return fmt.Errorf("access log: %w", err)
	}
	l.file = f
	return nil
}

// Record writes a request. It never waits for the disk. e is not kept.
func (l *Log) Record(e *Entry) {
	e.Target = svc.HideQuery(e.Target)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pending) > maxPending {
		l.dropped++
		return
	}
	l.pending = l.write(l.pending, e)
}

// Reopen opens the path again, for a program that has moved the file away. After an error the
// file before stays in use.
func (l *Log) Reopen() error {
	answer := make(chan error, 1)
	select {
	case l.asked <- answer:
		return <-answer
	case <-l.done:
		return nil
	}
}

// Close writes what is pending and closes the file.
func (l *Log) Close() error {
	close(l.stop)
	<-l.done
	return l.file.Close()
}

func (l *Log) loop(ctx context.Context) {
	defer close(l.done)
	tick := time.NewTicker(flushAfter)
	defer tick.Stop()
	var spare []byte
	for {
		select {
		case <-tick.C:
			spare = l.flush(ctx, spare)
		case answer := <-l.asked:
			spare = l.flush(ctx, spare)
			before := l.file
			err := l.open()
			if err == nil {
				err = before.Close()
			}
			answer <- err
		case <-l.stop:
			l.flush(ctx, spare)
			return
		}
	}
}

// flush writes what is pending, into which spare is swapped, and returns it.
func (l *Log) flush(ctx context.Context, spare []byte) []byte {
	l.mu.Lock()
	lines, dropped := l.pending, l.dropped
	l.pending, l.dropped = spare[:0], 0
	l.mu.Unlock()
	if len(lines) == 0 {
		return lines
	}
	_, err := l.file.Write(lines)
	if dropped > 0 {
		err = errors.Join(err, fmt.Errorf("%d lines dropped: the disk is too slow", dropped))
	}
	if err != nil {
		l.logger.WarnContext(ctx, "access log incomplete", "file", l.path, "error", err)
	}
	return lines
}
