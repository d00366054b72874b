package binding

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Reply answers 200 with a body, in parts.
func Reply(w http.ResponseWriter, contentType string, body ...[]byte) {
	n := 0
	for _, part := range body {
		n += len(part)
	}
	h := w.Header()
	h["Content-Type"] = []string{contentType}
	h["Content-Length"] = []string{strconv.Itoa(n)}
	w.WriteHeader(http.StatusOK)
	for _, part := range body {
		if _, err := w.Write(part); err != nil {
			return // a lost connection is workerd's to report
		}
	}
}

// StatusWriter is a ResponseWriter that can send a reason phrase of its own.
type StatusWriter interface {
	WriteStatus(code int, reason string)
}

// Fail answers code with text as the reason phrase and no body: that is what
// some of workerd's bindings put into the exception a worker sees. The
// request's body must have been read.
func Fail(w http.ResponseWriter, code int, text string) {
	reason := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
	if sw, ok := w.(StatusWriter); ok {
		sw.WriteStatus(code, reason)
		return
	}
	conn, buf, err := http.NewResponseController(w).Hijack() // net/http's server cannot be told a phrase
	if err != nil {
		http.Error(w, reason, code)
		return
	}
	_, _ = fmt.Fprintf(buf, "HTTP/1.1 %03d %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", code, reason)
	_ = buf.Flush()
	_ = conn.Close()
}
