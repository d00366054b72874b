package http1

import "bytes"

// Response is a parsed response head, which is reusable like a Request.
type Response struct {
	Fields
	Status int
	// StatusLine is the status and the reason phrase: "200 OK".
	StatusLine []byte
	minor      int
}

// Parse parses head, which must be complete, as FindHead returned it. Errors are
// of type *Error.
func (r *Response) Parse(head []byte) error {
	line, rest, err := cutLine(head)
	if err != nil {
		return err
	}
	if err := r.statusLine(line); err != nil {
		return err
	}
	if err := r.parse(rest); err != nil {
		return err
	}
	if r.coding > 0 && (r.coding > 1 || !r.Chunked || r.Length >= 0) {
		return bad("the framing of the response is ambiguous")
	}
	return nil
}

func (r *Response) statusLine(line []byte) error {
	const prefix = "HTTP/1.x "
	if len(line) < len(prefix)+3 || string(line[:7]) != "HTTP/1." || line[8] != ' ' || !isText(line) {
		return bad("the status line is malformed")
	}
	code := line[len(prefix) : len(prefix)+3]
	n, ok := parseLength(code)
	if !ok || n < 100 || len(line) > len(prefix)+3 && line[len(prefix)+3] != ' ' {
		return bad("the status line is malformed")
	}
	r.Status, r.StatusLine, r.minor = int(n), line[len(prefix):], int(line[7]-'0')
	return nil
}

// BodyLess reports whether the status, or the method of the request, excludes a
// body, independently of the fields (RFC 9112, 6.3).
func (r *Response) BodyLess(method []byte) bool {
	return r.Status < 200 || r.Status == 204 || r.Status == 304 || string(method) == "HEAD"
}

// KeepsAlive reports whether the connection may be used for another request. It may
// not if the body ends with the connection; the caller checks that.
func (r *Response) KeepsAlive() bool { return !r.close && r.minor >= 1 }

// IsWebSocket reports whether the response switches to a websocket.
func (r *Response) IsWebSocket() bool {
	return r.Status == 101 && bytes.EqualFold(r.upgradeTo, []byte("websocket"))
}
