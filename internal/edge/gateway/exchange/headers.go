package exchange

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"strconv"

	"github.com/svcctl/svcctl/internal/edge/http1"
	"github.com/svcctl/svcctl/internal/svc"
)

// maxRequestID is the maximum length of a client's request id, in bytes.
const maxRequestID = 128

// meta holds what the gateway itself reads from a request's head and sets in it.
type meta struct {
	accept      []byte
	https       bool
	host        []byte        // X-Forwarded-Host
	xff         []byte        // X-Forwarded-For as received from a trusted peer; owned
	id          []byte        // X-Request-Id; owned
	named       bool          // id is the client's
	traceparent []byte        // owned; its parent is the request
	newTrace    bool          // the traceparent is new: a client's tracestate does not apply
	parent      [16]byte      // the parent in the client's traceparent, unless newTrace
	sampled     bool          // the trace is recorded
	connecting  []byte        // CF-Connecting-IP of a proxy whose location headers are believed
	location    *svc.Location // what such a proxy says; nil for nothing
	seen        string        // svc.SeenHeader of its response
}

// Inspect reads the fields that concern the gateway and marks those that it replaces
// or withholds from workers, so that AppendRequest omits them [D45].
func (x *Request) Inspect(p *Peer) {
	x.meta.https = p.HTTPS
	list := x.Req.List
	for i := range list {
		if f := &list[i]; f.Kind == http1.Other && x.inspectField(f, p) {
			f.Kind = http1.HopByHop
		}
	}
	x.Req.Host = normalHost(x.Req.Host, x.meta.https)
	if x.meta.host == nil {
		x.meta.host = x.Req.Host
	}
	x.makeIDs()
	x.sample(p)
	if x.Hints.Doctor {
		x.see(p)
	}
}

// inspectField reports whether the gateway replaces the field.
func (x *Request) inspectField(f *http1.Field, p *Peer) bool {
	m, name := &x.meta, f.Name
	switch name[0] | 0x20 {
	case 'a':
		if http1.EqualFold(name, "accept") {
			m.accept = f.Value
		} else if http1.EqualFold(name, "accept-encoding") {
			x.Hints.Encodings = f.Value
		}
		return false
	case 'c':
		return x.inspectCF(f, p)
	case 'f':
		return !p.trusted && http1.EqualFold(name, "forwarded")
	case 's':
		x.Hints.Doctor = x.Hints.Doctor || isDoctor(f)
		return false
	case 't':
		if http1.EqualFold(name, "traceparent") {
			if validTraceparent(f.Value) && len(m.traceparent) == 0 {
				m.traceparent = append(m.traceparent, f.Value...)
			}
			return true
		}
		return !p.trusted && http1.EqualFold(name, "true-client-ip")
	case 'x':
		return x.inspectX(f, p.trusted)
	}
	return false
}

func (x *Request) inspectX(f *http1.Field, trusted bool) bool {
	m := &x.meta
	switch {
	case http1.EqualFold(f.Name, "x-request-id"):
		if saneID(f.Value) && len(m.id) == 0 {
			m.id = append(m.id, f.Value...)
		}
	case http1.EqualFold(f.Name, "x-forwarded-for"):
		if trusted && len(f.Value) > 0 {
			if len(m.xff) > 0 {
				m.xff = append(m.xff, ',', ' ')
			}
			m.xff = append(m.xff, f.Value...)
		}
	case http1.EqualFold(f.Name, "x-forwarded-proto"):
		if trusted {
			m.https = http1.EqualFold(f.Value, "https")
		}
	case http1.EqualFold(f.Name, "x-forwarded-host"):
		if trusted && len(f.Value) > 0 {
			m.host = normalHost(f.Value, m.https)
		}
	case http1.EqualFold(f.Name, "x-real-ip"), http1.EqualFold(f.Name, "x-client-ip"):
		return !trusted
	case len(f.Name) > 12 && http1.EqualFold(f.Name[:12], "x-forwarded-"): // -Port, -Prefix, -Server and more
		return !trusted
	case len(f.Name) > 6 && http1.EqualFold(f.Name[:6], "x-svc-"):
		switch {
		case http1.EqualFold(f.Name, "x-svc-verify"):
			x.Hints.Verify = f.Value
		case http1.EqualFold(f.Name, "x-svc-route"):
			x.Hints.Route = f.Value
		}
	default:
		return false
	}
	return true
}

// normalHost returns the one spelling of a host, in the memory of b: in lower case, without an empty
// port, and without the default port of the scheme (RFC 3986, 6.2). Workers compare request.url as a
// text, and the Cache API has it as its key.
func normalHost(b []byte, https bool) []byte {
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	port := []byte(":80")
	if https {
		port = []byte(":443")
	}
	return bytes.TrimSuffix(bytes.TrimSuffix(b, port), []byte{':'})
}

// saneID reports whether a client's request id is valid [D14].
func saneID(b []byte) bool {
	for _, c := range b {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '-' || c == '_' || c == '.' || c == ':' || c == '/' || c == '+' || c == '=':
		default:
			return false
		}
	}
	return len(b) > 0 && len(b) <= maxRequestID
}

// The parent of a traceparent is between these offsets: it names the request.
const parentAt, parentEnd = 36, 52

// The trace of a traceparent is between the first two offsets; its flags end at the third.
const traceAt, traceEnd, flagsEnd = 3, 35, 55

// makeIDs names the request. Its name, 16 hex digits, is the parent in the traceparent
// that the worker gets, and how log lines find their request. An X-Request-Id, or a trace,
// that the client did not send begins with it.
func (x *Request) makeIDs() {
	m := &x.meta
	var raw [16]byte
	for i := 0; i < len(raw); i += 8 {
		binary.LittleEndian.PutUint64(raw[i:], rand.Uint64()) //nolint:gosec // G404: the id of a request is no secret
	}
	raw[0] |= 1 // neither id may be all zero
	var id [2 * len(raw)]byte
	hex.Encode(id[:], raw[:])
	if m.newTrace = len(m.traceparent) == 0; m.newTrace {
		m.traceparent = append(append(m.traceparent, "00-"...), id[:]...)
		m.traceparent = append(append(append(m.traceparent, '-'), id[:parentEnd-parentAt]...), "-00"...)
	} else {
		copy(m.parent[:], m.traceparent[parentAt:parentEnd])
		copy(m.traceparent[parentAt:parentEnd], id[:])
	}
	if m.named = len(m.id) > 0; !m.named {
		m.id = append(m.id, id[:]...)
	}
}

// sample decides whether the trace is recorded, which its flags tell the worker. A client
// decides for its own traces.
func (x *Request) sample(p *Peer) {
	m := &x.meta
	if p.by.sampled == nil {
		return
	}
	if m.newTrace && p.by.sampled(m.traceparent[traceAt:traceEnd]) {
		m.traceparent[flagsEnd-1] = '1'
	}
	m.sampled = bytes.IndexByte([]byte("13579bdf"), m.traceparent[flagsEnd-1]) >= 0
}

// validTraceparent checks the W3C form: version-trace-parent-flags in
// lower-case hex, ids not zero, version not ff.
func validTraceparent(b []byte) bool {
	const size = len("00-00000000000000000000000000000000-0000000000000000-00")
	if len(b) < size || len(b) > size && (b[size] != '-' || b[0] == '0' && b[1] == '0') || len(b) > 2*size {
		return false
	}
	for i, c := range b[:size] {
		dash := i == 2 || i == 35 || i == 52
		if dash != (c == '-') || !dash && (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return (b[0] != 'f' || b[1] != 'f') && !allZero(b[3:35]) && !allZero(b[36:52])
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != '0' {
			return false
		}
	}
	return true
}

// AppendRequest appends the head for the runtime.
func (x *Request) AppendRequest(b []byte, p *Peer) []byte {
	req, m := &x.Req, &x.meta
	b = append(append(append(b, req.Method...), ' '), req.Target...)
	b = append(append(b, " HTTP/1.1\r\nHost: "...), req.Host...)
	b = append(b, '\r', '\n')
	for i := range req.List {
		f := &req.List[i]
		if f.Kind != http1.Other || req.Listed(f.Name) || m.newTrace && http1.EqualFold(f.Name, "tracestate") {
			continue
		}
		b = appendField(b, f.Name, f.Value)
	}
	b = appendFraming(b, req)
	proto := "http"
	if m.https {
		proto = "https"
	}
	client := x.clientAddress(p)
	location := x.locate(p, client)
	b = append(b, "X-Forwarded-For: "...)
	if len(m.xff) > 0 {
		b = append(append(b, m.xff...), ',', ' ')
	}
	b = append(append(b, p.IP...), "\r\nX-Forwarded-Proto: "...)
	b = append(append(b, proto...), "\r\nX-Forwarded-Host: "...)
	b = append(append(b, m.host...), "\r\nCF-Connecting-IP: "...)
	b = append(append(b, client...), "\r\nX-Request-Id: "...)
	b = append(append(b, m.id...), "\r\ntraceparent: "...)
	b = append(append(b, m.traceparent...), '\r', '\n')
	b = x.appendCountry(b, &location)
	b = append(append(b, "X-Svc-Proto: "...), proto...)
	// workerd answers 500 if the field is not JSON, and shows the address of its own
	// socket if it is absent, so it is always set.
	b = x.appendCF(append(b, "\r\nX-Svc-Cf: "...), &location)
	return append(b, "\r\n\r\n"...)
}

// appendFraming appends the fields about the body's framing and the upgrade.
func appendFraming(b []byte, req *http1.Request) []byte {
	switch {
	case req.Chunked:
		b = append(b, "Transfer-Encoding: chunked\r\n"...)
	case req.Length >= 0:
		b = appendInt(append(b, "Content-Length: "...), req.Length)
		b = append(b, '\r', '\n')
	}
	if req.WantsContinue() {
		b = append(b, "Expect: 100-continue\r\n"...)
	}
	if req.IsWebSocket() {
		b = append(b, "Connection: Upgrade\r\nUpgrade: websocket\r\n"...)
	}
	return b
}

func appendField(b, name, value []byte) []byte {
	b = append(append(b, name...), ':', ' ')
	return append(append(b, value...), '\r', '\n')
}

func appendInt(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }
