package svc

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// LogLine is one entry of a version's log: a console line, an exception, or an invocation
// that is over.
type LogLine struct {
	Time    time.Time `json:"time"`
	Level   string    `json:"level"` // debug, log, info, warn, error or fatal
	Source  string    `json:"source"`
	Message string    `json:"message"`

	// RequestID names the invocation that the entry belongs to; "" if unknown.
	RequestID  string      `json:"request_id,omitempty"`
	Invocation *Invocation `json:"invocation,omitempty"` // of the sources LogRequest and LogEvent
}

// The sources of log lines.
const (
	LogConsole   = "console"   // the worker, through console or process.stdout
	LogException = "exception" // an exception that nothing caught
	LogRuntime   = "runtime"   // workerd or the worker host
	LogRequest   = "request"   // the gateway: a request that is over
	LogEvent     = "event"     // the worker host: an event that is over
	LogGap       = "gap"       // entries are missing
	LogServer    = "server"    // the server's own log
)

// Invocation is one call of a worker that is over.
type Invocation struct {
	Kind     string        `json:"kind"` // request, or the worker's handler: scheduled, queue, alarm …
	Method   string        `json:"method,omitempty"`
	Path     string        `json:"path,omitempty"`   // with query names, without query values
	Status   int           `json:"status,omitempty"` // 499 when the client left before the response
	Outcome  string        `json:"outcome"`          // ok, exception, canceled, timeout, exited, or refused by the gateway
	Error    string        `json:"error,omitempty"`  // code of an error of the gateway
	Role     Role          `json:"role,omitempty"`   // of the host name of a request
	ClientID string        `json:"client_id,omitempty"`
	Detail   string        `json:"detail,omitempty"` // cron expression, queue, class and method
	Duration time.Duration `json:"duration"`
}

// OutcomeRefused is the outcome of a request that the gateway answered itself.
const OutcomeRefused Outcome = "refused"

// Level returns the level of an entry about i.
func (i *Invocation) Level() string {
	switch {
	case i.Status >= 500 || i.Status == 0 && i.Outcome != string(OutcomeOK):
		return "error"
	case i.Outcome == string(OutcomeException):
		return "error"
	}
	return "info"
}

// String returns i in words: "GET /boom 500 after 3ms".
func (i *Invocation) String() string {
	took := i.Duration.Round(time.Microsecond)
	if took >= time.Millisecond {
		took = took.Round(time.Millisecond)
	}
	if i.Kind == LogRequest {
		return fmt.Sprintf("%s %s %d after %s", cmp.Or(i.Method, "-"), cmp.Or(i.Path, "-"), i.Status, took)
	}
	what := i.Kind
	if i.Detail != "" {
		what += " " + i.Detail
	}
	return fmt.Sprintf("%s: %s after %s", what, i.Outcome, took)
}

// MaxLogText bounds the message of a stored entry, in bytes.
const MaxLogText = 16 << 10

// logRecord is a LogLine in its stored form. Times and durations are in microseconds.
type logRecord struct {
	Time   int64         `json:"t"`
	Source string        `json:"s"`
	Level  string        `json:"l"`
	ID     string        `json:"i"`
	Text   string        `json:"m"`
	Call   *storedRecord `json:"r"`
}

type storedRecord struct {
	Kind     string `json:"k"`
	Method   string `json:"me"`
	Path     string `json:"p"`
	Status   int    `json:"st"`
	Outcome  string `json:"o"`
	Error    string `json:"e"`
	Role     Role   `json:"ro"`
	ClientID string `json:"c"`
	Detail   string `json:"d"`
	Micros   int64  `json:"us"`
}

// AppendLog appends l to b as a JSON object without line breaks, for a ring. It allocates
// nothing if b has room.
func AppendLog(b []byte, l *LogLine) []byte {
	b = strconv.AppendInt(append(b, `{"t":`...), l.Time.UnixMicro(), 10)
	b = appendText(b, `,"s":`, l.Source)
	b = appendText(b, `,"l":`, l.Level)
	b = appendText(b, `,"i":`, l.RequestID)
	b = appendText(b, `,"m":`, l.Message)
	if i := l.Invocation; i != nil {
		b = appendText(b, `,"r":{"k":`, i.Kind)
		b = appendText(b, `,"me":`, i.Method)
		b = appendText(b, `,"p":`, i.Path)
		b = strconv.AppendInt(append(b, `,"st":`...), int64(i.Status), 10)
		b = appendText(b, `,"o":`, i.Outcome)
		b = appendText(b, `,"e":`, i.Error)
		b = appendText(b, `,"ro":`, string(i.Role))
		b = appendText(b, `,"c":`, i.ClientID)
		b = appendText(b, `,"d":`, i.Detail)
		b = strconv.AppendInt(append(b, `,"us":`...), i.Duration.Microseconds(), 10)
		b = append(b, '}')
	}
	return append(b, '}')
}

// appendText appends a name and a text, unless the text is "".
func appendText(b []byte, name, text string) []byte {
	if text == "" {
		return b
	}
	return appendQuoted(append(b, name...), text)
}

// appendQuoted appends text as a JSON string. Bytes that are not UTF-8 become U+FFFD.
func appendQuoted(b []byte, text string) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(text); {
		c := text[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(text[i:])
			b = utf8.AppendRune(b, r)
			i += size
			continue
		}
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c < 0x20:
			b = append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&0xf])
		default:
			b = append(b, c)
		}
		i++
	}
	return append(b, '"')
}

// ParseLog reads what AppendLog wrote. ok is false for anything else.
func ParseLog(data []byte) (l LogLine, ok bool) {
	var r logRecord
	if json.Unmarshal(data, &r) != nil || r.Source == "" {
		return l, false
	}
	l = LogLine{Time: time.UnixMicro(r.Time).UTC(), Level: r.Level, Source: r.Source, Message: r.Text, RequestID: r.ID}
	if c := r.Call; c != nil {
		l.Invocation = &Invocation{
			Kind: c.Kind, Method: c.Method, Path: c.Path, Status: c.Status, Outcome: c.Outcome, Error: c.Error,
			Role: c.Role, ClientID: c.ClientID, Detail: c.Detail, Duration: time.Duration(c.Micros) * time.Microsecond,
		}
		l.Message = cmp.Or(l.Message, l.Invocation.String())
	}
	return l, true
}

// ClipLog shortens text to MaxLogText bytes of whole characters.
func ClipLog(text string) string {
	if len(text) <= MaxLogText {
		return text
	}
	return strings.ToValidUTF8(text[:MaxLogText], "") + fmt.Sprintf(" … (%d more bytes)", len(text)-MaxLogText)
}

// HideQuery returns a request target with the values of its query replaced by "***".
func HideQuery(target string) string {
	path, query, ok := strings.Cut(target, "?")
	if !ok {
		return target
	}
	var b strings.Builder
	b.WriteString(path)
	for i, pair := range strings.Split(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		b.WriteByte("?&"[min(i, 1)])
		b.WriteString(name)
		if value != "" {
			b.WriteString("=***")
		}
	}
	return b.String()
}

// The rings in a version's log directory: that of the worker host and that of the gateway.
const (
	LogsOfWorker  = "worker"
	LogsOfGateway = "requests"
)

// The limits of each ring.
const (
	LogSegmentSize = 4 << 20 // bytes
	LogSegments    = 4
)

// LogQuery selects entries of a log. The zero value selects all of them. Status, Path and
// RequestID select invocations, with all of their entries.
type LogQuery struct {
	Since     time.Time
	Level     string // at least: debug, info, warn or error
	Status    string // 404, or 4xx
	Path      string // glob: "*" stands for any text
	RequestID string // request id, or at least its first four characters
	Search    string // text that the message contains, in any case
	Tail      int    // number of entries

	// Cursor continues after an earlier page; "" begins Tail entries before the end.
	Cursor string
}

// LogEntry is an entry of a version's log and the cursor after it.
type LogEntry struct {
	LogLine
	Version string
	Cursor  string
}

// LogPage is a part of a log, oldest entry first.
type LogPage struct {
	Entries []LogEntry
	Cursor  string // for what follows
}
