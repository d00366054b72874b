package exchange

import "github.com/svcctl/svcctl/internal/edge/http1"

const (
	// deprecation marks responses to requests with a path selector: deprecated
	// since 2026-11-01 (RFC 9745) [D4].
	deprecation = "Deprecation: @1793491200\r\n"
)

// Framing is the way in which the length of a response's body is known.
type Framing uint8

// The framings.
const (
	Empty Framing = iota
	ByLength
	ByChunks
	ByClose // until the connection ends
)

// Framing returns the framing of the body from the runtime, and to the client.
func (x *Request) Framing() (from, to Framing) {
	switch {
	case x.Resp.BodyLess(x.Req.Method):
		return Empty, Empty
	case x.Resp.Chunked:
		from = ByChunks
	case x.Resp.Length >= 0 && x.Compressor == nil:
		return ByLength, ByLength
	case x.Resp.Length >= 0:
		return ByLength, ByChunks
	default:
		from = ByClose
	}
	if x.Req.Minor == 0 {
		return from, ByClose
	}
	return from, ByChunks
}

// AppendResponse appends the head for the client: the worker's fields without those
// that end at this hop, and the gateway's fields.
func (x *Request) AppendResponse(b []byte, to Framing, keep bool) []byte {
	b = AppendStatus(b, &x.Resp)
	if x.Compressor != nil {
		b = appendEncoded(b, &x.Resp, x.Compressor.encoding)
	} else {
		b = AppendFields(b, &x.Resp)
	}
	if x.vary && !varies(&x.Resp) {
		b = append(b, "Vary: Accept-Encoding\r\n"...)
	}
	b = append(append(b, "Svc-Version: "...), x.Claim.Version.Ref.Version...)
	b = append(b, '\r', '\n')
	if x.Resp.Get("x-request-id") == nil {
		b = append(append(b, "X-Request-Id: "...), x.meta.id...)
		b = append(b, '\r', '\n')
	}
	if x.Claim.Selector {
		b = append(b, deprecation...)
	}
	if to == ByChunks {
		b = append(b, "Transfer-Encoding: chunked\r\n"...)
	}
	return append(appendConnection(b, &x.Req, keep), '\r', '\n')
}

// appendConnection appends a Connection field where keep differs from the default of
// the client's HTTP version.
func appendConnection(b []byte, req *http1.Request, keep bool) []byte {
	switch {
	case !keep:
		b = append(b, "Connection: close\r\n"...)
	case req.Minor == 0:
		b = append(b, "Connection: keep-alive\r\n"...)
	}
	return b
}

// AppendStatus appends the status line of the worker.
func AppendStatus(b []byte, resp *http1.Response) []byte {
	b = append(append(b, "HTTP/1.1 "...), resp.StatusLine...)
	return append(b, '\r', '\n')
}

// AppendFields appends the worker's fields, without svc-version and svc-error, which
// only the gateway may set.
func AppendFields(b []byte, resp *http1.Response) []byte {
	for i := range resp.List {
		f := &resp.List[i]
		switch {
		case f.Kind == http1.ContentLength && !resp.Chunked:
		case f.Kind == http1.Host || f.Kind == http1.Expect: // unusual, but set by the worker
		case f.Kind != http1.Other, resp.Listed(f.Name):
			continue
		case http1.EqualFold(f.Name, "svc-version"), http1.EqualFold(f.Name, "svc-error"):
			continue
		}
		b = appendField(b, f.Name, f.Value)
	}
	return b
}

// AppendUpgrade appends the head of the response that opens a websocket.
func (x *Request) AppendUpgrade(b []byte) []byte {
	b = AppendFields(AppendStatus(b, &x.Resp), &x.Resp)
	b = append(append(b, "Svc-Version: "...), x.Claim.Version.Ref.Version...)
	if x.Claim.Selector {
		b = append(append(b, '\r', '\n'), deprecation[:len(deprecation)-2]...)
	}
	return append(b, "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"...)
}
