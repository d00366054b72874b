package agent

import (
	"bytes"
	"time"

	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/lib/backoff"
	"github.com/svcctl/svcctl/internal/lib/ring"
	"github.com/svcctl/svcctl/internal/svc"
)

// The most that one notice has of a log.
const (
	maxLines = 256
	maxBytes = 256 << 10
)

const (
	maxWaiting = 16                     // notices that the daemon has not heard
	logWait    = 250 * time.Millisecond // the longest time between two looks at a log
)

// sendLogs sends the log of the worker until done is closed and all of it is sent.
func (s *session) sendLogs(dir string, done <-chan struct{}) {
	r := ring.NewReader(dir, svc.LogsOfWorker, 0)
	defer r.Close()
	for pause := (backoff.Backoff{First: ring.Delay, Max: logWait}); ; {
		ended := false
		select {
		case <-done:
			ended = true
		default:
		}
		if !ended && s.outbox.waiting() >= maxWaiting { // the daemon is away: the log is a ring
			_ = backoff.Sleep(s.life, logWait)
			continue
		}
		logs, err := nextLogs(r)
		switch {
		case err != nil:
			s.log.Warn("the log of the worker cannot be read; entries are lost", "error", err)
			return
		case logs != nil:
			pause.Reset()
			s.outbox.add(control.Notice{Logs: logs})
		case ended:
			return
		default:
			_ = pause.Sleep(s.life) // the loop sees the end of the process
		}
	}
}

// nextLogs returns the next entries, nil for none.
func nextLogs(r *ring.Reader) (*control.Logs, error) {
	var logs *control.Logs
	for size := 0; size < maxBytes; {
		n, line, ok, err := r.Next()
		if err != nil || !ok {
			return logs, err
		}
		if logs == nil {
			logs = &control.Logs{From: n}
		}
		line = bytes.Clone(withoutNumber(line))
		logs.Lines = append(logs.Lines, line)
		if size += len(line); len(logs.Lines) == maxLines {
			break
		}
	}
	return logs, nil
}

// withoutNumber removes the number that the ring has put first in an object: {"n":17,…}.
func withoutNumber(line []byte) []byte {
	if _, rest, ok := bytes.Cut(line, []byte(",")); ok && bytes.HasPrefix(line, []byte(`{"n":`)) {
		return append([]byte("{"), rest...)
	}
	return line
}
