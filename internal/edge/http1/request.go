package http1

import "bytes"

// Request is a parsed request head. Parse may be called repeatedly on one value; the
// value keeps the memory of its field list.
type Request struct {
	Fields
	Method []byte
	// Target is the request target in origin form, byte for byte as it was sent.
	Target []byte
	// Host is the value of the Host field.
	Host []byte
	// Minor is the minor version: 0, or 1 for every later version.
	Minor int
}

// Parse parses head, which must be complete, as FindHead returned it. Errors are
// of type *Error.
func (r *Request) Parse(head []byte) error {
	if bytes.HasPrefix(head, headEnd[:2]) {
		head = head[2:] // RFC 9112, 2.2: one empty line before the request
	}
	line, rest, err := cutLine(head)
	if err != nil {
		return err
	}
	if err := r.requestLine(line); err != nil {
		return err
	}
	if err := r.parse(rest); err != nil {
		return err
	}
	if err := r.framing(); err != nil {
		return err
	}
	return r.authority()
}

func (r *Request) requestLine(line []byte) error {
	method, rest, ok := bytes.Cut(line, []byte{' '})
	i := bytes.LastIndexByte(rest, ' ')
	if !ok || i < 0 || !isToken(method) || !isTarget(rest[:i]) {
		return bad("the request line is malformed")
	}
	version := rest[i+1:]
	if len(version) != len("HTTP/1.1") || string(version[:5]) != "HTTP/" || version[6] != '.' {
		return bad("the request line is malformed")
	}
	if version[5] != '1' || version[7] < '0' || version[7] > '9' {
		return &Error{Status: 505, Detail: "unsupported HTTP version; use HTTP/1.1"}
	}
	r.Method, r.Target, r.Minor = method, rest[:i], min(int(version[7]-'0'), 1)
	return nil
}

// framing refuses a head that leaves the end of the body ambiguous.
func (r *Request) framing() error {
	switch {
	case r.coding == 0:
		return nil
	case r.Length >= 0:
		return bad("Content-Length and Transfer-Encoding exclude each other")
	case r.Minor == 0:
		return bad("HTTP/1.0 has no Transfer-Encoding")
	case r.coding > 1 || !r.Chunked:
		return &Error{Status: 501, Detail: "the only transfer coding is chunked"}
	}
	return nil
}

// authority checks the host: one Host field, and a target in origin form, or in
// absolute form with the same host.
func (r *Request) authority() error {
	if string(r.Method) == "CONNECT" {
		return &Error{Status: 405, Detail: "CONNECT is not supported; this server is not a forward proxy"}
	}
	if r.hosts != 1 || !isHost(r.host) {
		return bad("a request needs exactly one valid Host")
	}
	r.Host = r.host
	if r.Target[0] == '/' {
		return nil
	}
	const scheme = "http://" // in any case: RFC 3986, 3.1
	if len(r.Target) < len(scheme) || !EqualFold(r.Target[:len(scheme)], scheme) {
		return bad("the request target must start with /")
	}
	rest := r.Target[len(scheme):]
	i := bytes.IndexAny(rest, "/?")
	if i < 0 {
		i = len(rest)
	}
	if !bytes.EqualFold(rest[:i], r.Host) {
		return bad("the host of the request target is not the one of the Host header")
	}
	if r.Target = rest[i:]; len(r.Target) == 0 || r.Target[0] != '/' {
		r.Target = append([]byte{'/'}, r.Target...)
	}
	return nil
}

// HasBody reports whether a body follows the head.
func (r *Request) HasBody() bool { return r.Chunked || r.Length > 0 }

// KeepsAlive reports whether the client will send another request.
func (r *Request) KeepsAlive() bool {
	return !r.close && (r.Minor == 1 || r.keepAlive)
}

// WantsContinue reports whether the client sends its body only after a 100
// (Continue).
func (r *Request) WantsContinue() bool {
	return r.Minor == 1 && r.HasBody() && EqualFold(r.expect, "100-continue")
}

// IsWebSocket reports whether the request asks for a websocket (RFC 6455, 4.1).
func (r *Request) IsWebSocket() bool {
	return r.Minor == 1 && r.upgrade && HasToken(r.upgradeTo, "websocket") && !r.HasBody() && string(r.Method) == "GET"
}
