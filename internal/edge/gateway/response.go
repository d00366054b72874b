package gateway

import "github.com/svcctl/svcctl/internal/edge/http1"

const (
	// deprecation marks responses to requests with a path selector: deprecated
	// since 2026-11-01 (RFC 9745) [D4].
	deprecation = "Deprecation: @1793491200\r\n"
)

// framing is the way in which the length of a response's body is known.
type framing uint8

const (
	noBody framing = iota
	byLength
	byChunks
	byClose // until the connection ends
)

// framing returns the framing of the body from the runtime, and to the client.
func (x *request) framing() (from, to framing) {
	switch {
	case x.resp.BodyLess(x.req.Method):
		return noBody, noBody
	case x.resp.Chunked:
		from = byChunks
	case x.resp.Length >= 0 && x.compressor == nil:
		return byLength, byLength
	case x.resp.Length >= 0:
		return byLength, byChunks
	default:
		from = byClose
	}
	if x.req.Minor == 0 {
		return from, byClose
	}
	return from, byChunks
}

// appendResponse appends the head for the client: the worker's fields without those
// that end at this hop, and the gateway's fields.
func (x *request) appendResponse(b []byte, to framing, keep bool) []byte {
	b = appendStatus(b, &x.resp)
	if x.compressor != nil {
		b = appendEncoded(b, &x.resp, x.compressor.encoding)
	} else {
		b = appendFields(b, &x.resp)
	}
	if x.vary && !varies(&x.resp) {
		b = append(b, "Vary: Accept-Encoding\r\n"...)
	}
	b = append(append(b, "Svc-Version: "...), x.claim.version.ref.Version...)
	b = append(b, '\r', '\n')
	if x.resp.Get("x-request-id") == nil {
		b = append(append(b, "X-Request-Id: "...), x.meta.id...)
		b = append(b, '\r', '\n')
	}
	if x.claim.selector {
		b = append(b, deprecation...)
	}
	if to == byChunks {
		b = append(b, "Transfer-Encoding: chunked\r\n"...)
	}
	return append(appendConnection(b, &x.req, keep), '\r', '\n')
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

func appendStatus(b []byte, resp *http1.Response) []byte {
	b = append(append(b, "HTTP/1.1 "...), resp.StatusLine...)
	return append(b, '\r', '\n')
}

// appendFields appends the worker's fields, without svc-version and svc-error, which
// only the gateway may set.
func appendFields(b []byte, resp *http1.Response) []byte {
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

func (x *request) appendUpgrade(b []byte) []byte {
	b = appendFields(appendStatus(b, &x.resp), &x.resp)
	b = append(append(b, "Svc-Version: "...), x.claim.version.ref.Version...)
	if x.claim.selector {
		b = append(append(b, '\r', '\n'), deprecation[:len(deprecation)-2]...)
	}
	return append(b, "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"...)
}
