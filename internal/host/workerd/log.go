package workerd

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Source says who wrote a log line.
type Source string

// The sources of log lines.
const (
	SourceConsole   Source = "console"   // the worker, through console or process.stdout
	SourceException Source = "exception" // an exception that nothing caught
	SourceRuntime   Source = "runtime"   // workerd itself
	SourceNamed     Source = "named"     // the entry module: ID is the event of the host in the message, JSON; not for the log
	SourceEnded     Source = "ended"     // the entry module: the call ID, which the host does not know, is over; JSON
	SourceNoRetry   Source = "no_retry"  // the entry module: the scheduled run ID must not be repeated; not for the log
	SourceSpans     Source = "spans"     // the entry module: spans of a trace, JSON; not for the log
)

// LogLine is one entry of a worker's log. Level is debug, log, info, warn,
// error or fatal. Message may have several lines: an exception's has the
// JavaScript stack where workerd knows it. Time is zero when the line had none.
type LogLine struct {
	Time    time.Time
	Level   string
	Message string
	Source  Source
	ID      string // of the invocation; "" if unknown
}

// MaxLogLine is how much of one printed line is kept, in bytes; the rest is
// read and dropped.
const MaxLogLine = 256 << 10

// ReadLog reads workerd's stdout (or stderr) to its end and gives emit each log
// line. It never stops reading on account of what it reads, because workerd
// would stop serving; so emit must not block for long. It returns an error only
// when r fails.
func ReadLog(r io.Reader, emit func(LogLine)) error {
	var p LogParser
	br := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := readLine(br)
		if entry, ok := p.Parse(line); ok {
			emit(entry)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the worker's log: %w", err)
		}
	}
}

// readLine reads one line without its break and keeps MaxLogLine bytes of it.
// The result is good until the next call.
func readLine(br *bufio.Reader) ([]byte, error) {
	line, err := br.ReadSlice('\n')
	if err == nil || !errors.Is(err, bufio.ErrBufferFull) {
		return bytes.TrimRight(line, "\r\n"), err
	}
	long := bytes.Clone(line)
	for errors.Is(err, bufio.ErrBufferFull) {
		line, err = br.ReadSlice('\n')
		long = append(long, line[:min(len(line), MaxLogLine-len(long))]...)
	}
	return bytes.TrimRight(long, "\r\n"), err
}

// LogParser understands the lines of one workerd process, in order. The zero
// value is ready.
type LogParser struct {
	seen       exceptions
	failedCall time.Time // when the last call of another process failed
}

// rawLine is a printed line. A worker's lines have a number for a timestamp and
// no source; the runtime's have a string and one.
type rawLine struct {
	Timestamp json.RawMessage `json:"timestamp"`
	Level     string          `json:"level"`
	Source    string          `json:"source"`
	Message   string          `json:"message"`
}

// Parse understands one line, without its break. It reports false for what says
// nothing new or nothing of use: the second and third account of an exception,
// and the runtime's own chatter. A line that is not structured is returned unchanged.
func (p *LogParser) Parse(line []byte) (LogLine, bool) {
	if len(line) == 0 {
		return LogLine{}, false
	}
	raw, ok := decodeLine(line)
	if !ok {
		return LogLine{Level: "info", Message: string(line), Source: SourceRuntime}, true
	}
	entry := LogLine{Time: raw.time(), Level: raw.Level, Message: raw.Message, Source: SourceConsole}
	if raw.Source == "" {
		return p.workerLine(entry), !asksEnded(entry.Message)
	}
	return p.runtimeLine(entry)
}

// decodeLine decodes a structured line. One that was cut at MaxLogLine is
// closed, so that what was kept of its message is not lost.
func decodeLine(line []byte) (raw rawLine, ok bool) {
	if line[0] != '{' {
		return raw, false
	}
	if json.Unmarshal(line, &raw) == nil {
		return raw, true
	}
	// The cut may be within an escape, which has at most 12 bytes.
	for n := len(line); len(line) >= MaxLogLine-2 && n > len(line)-12; n-- {
		closed := append(bytes.Clone(line[:n]), `…"}`...)
		if json.Unmarshal(closed, &raw) == nil {
			return raw, true
		}
	}
	return raw, false
}

// time is zero for a line without one, and for what a module prints while it is
// loaded: the worker's clock stands at 0 then.
func (r rawLine) time() time.Time {
	ms, err := strconv.ParseInt(strings.Trim(string(r.Timestamp), `"`), 10, 64)
	if err != nil || ms <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// asksEnded reports whether a line is the warning about a promise of an invocation that has ended:
// package entry resolves some to find out whether it has.
func asksEnded(message string) bool {
	return strings.HasPrefix(message, "Warning: A promise was resolved or rejected from a different request context") &&
		strings.Contains(message, "svc-internal:waiting")
}

// The marks of package entry around the id of an invocation, before a line's text.
const (
	markID        = "\x1e"
	markText      = '\x1e'
	markValue     = '\x1d'
	markException = '\x1f'
	markNamed     = '\x1c'
	markEnded     = '\x1b'
	markNoRetry   = '\x1a'
	markSpans     = '\x19'
)

// workerLine takes the id of the invocation from a line of the worker.
func (p *LogParser) workerLine(entry LogLine) LogLine {
	rest, ok := strings.CutPrefix(entry.Message, markID)
	i := strings.IndexAny(rest, string([]rune{markText, markValue, markException, markNamed, markEnded, markNoRetry, markSpans}))
	if !ok || i < 0 {
		entry.Message = withoutOwnFrames(entry.Message)
		return entry
	}
	entry.ID, entry.Message = rest[:i], rest[i+1:]
	switch rest[i] {
	case markText:
		entry.Message = withoutOwnFrames(entry.Message)
	case markValue:
		entry.Message = withoutOwnFrames(strings.TrimPrefix(entry.Message, " "))
	case markException:
		text, object := strings.CutPrefix(entry.Message, " ")
		entry.Message = text
		p.seen.add(seenException{text: text, object: object, own: true})
		return exception(entry)
	case markNamed:
		entry.Source = SourceNamed
	case markEnded:
		entry.Source = SourceEnded
	case markNoRetry:
		entry.Source = SourceNoRetry
	case markSpans:
		entry.Source = SourceSpans
	}
	return entry
}
