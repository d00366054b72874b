package accesslog

import (
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/svcctl/svcctl/internal/svc"
)

// Format is how a request is written.
type Format string

// The formats.
const (
	JSON     Format = "json"
	Combined Format = "combined"
)

// Entry is one request.
type Entry struct {
	Time     time.Time
	Client   string
	Host     string
	Method   string
	Target   string // as sent; Log hides the values of its query
	Minor    int    // HTTP/1.Minor
	Status   int
	Bytes    int64 // of the response's body as sent
	Duration time.Duration
	Referer  string
	Agent    string
	Ref      svc.Ref // zero if no version was found
	Error    string  // code of the gateway's own answer
	ID       string  // names the request in `svcctl logs --request`
}

// line is an Entry as JSON.
type line struct {
	Time       time.Time `json:"time"`
	Client     string    `json:"client"`
	Host       string    `json:"host"`
	Method     string    `json:"method"`
	Path       string    `json:"path"`
	Status     int       `json:"status"`
	Bytes      int64     `json:"bytes"`
	DurationMS float64   `json:"duration_ms"`
	Project    string    `json:"project,omitempty"`
	Version    string    `json:"version,omitempty"`
	Error      string    `json:"error,omitempty"`
	RequestID  string    `json:"request_id"`
	Referer    string    `json:"referer,omitempty"`
	Agent      string    `json:"user_agent,omitempty"`
}

func appendJSON(b []byte, e *Entry) []byte {
	l := line{
		Time: e.Time.UTC(), Client: e.Client, Host: e.Host, Method: e.Method, Path: e.Target, Status: e.Status, Bytes: e.Bytes,
		DurationMS: float64(e.Duration.Microseconds()) / 1000, Project: e.Ref.Project, Version: e.Ref.Version,
		Error: e.Error, RequestID: e.ID, Referer: e.Referer, Agent: e.Agent,
	}
	text, err := json.Marshal(l)
	if err != nil {
		return b // plain data: it does not fail
	}
	return append(append(b, text...), '\n')
}

// appendCombined writes: client - - [time] "request" status bytes "referer" "user agent".
func appendCombined(b []byte, e *Entry) []byte {
	b = append(orDash(b, e.Client), " - - ["...)
	b = e.Time.AppendFormat(b, "02/Jan/2006:15:04:05 -0700")
	b = append(b, `] "`...)
	b = append(quoted(b, e.Method), ' ')
	b = append(quoted(b, e.Target), " HTTP/1."...)
	b = append(strconv.AppendInt(b, int64(e.Minor), 10), `" `...)
	b = append(strconv.AppendInt(b, int64(e.Status), 10), ' ')
	if e.Bytes > 0 {
		b = strconv.AppendInt(b, e.Bytes, 10)
	} else {
		b = append(b, '-')
	}
	b = append(orDash(append(b, ` "`...), e.Referer), `" "`...)
	return append(orDash(b, e.Agent), "\"\n"...)
}

func orDash(b []byte, text string) []byte {
	if text == "" {
		return append(b, '-')
	}
	return quoted(b, text)
}

// quoted escapes what would end a field or a line, as Apache does.
func quoted(b []byte, text string) []byte {
	const hex = "0123456789abcdef"
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ' || c >= utf8.RuneSelf || c == 0x7f:
			b = append(b, '\\', 'x', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return b
}
