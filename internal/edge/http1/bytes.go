package http1

import (
	"bytes"
	"net/netip"
)

// The bytes of a token (RFC 9110, 5.6.2), one bit each: below 64, and 64 to 127.
const (
	tokenLow  = uint64(0x03ff6cfa_00000000)
	tokenHigh = uint64(0x57ffffff_c7fffffe)
)

func isTokenByte(c byte) bool {
	switch {
	case c < 64:
		return tokenLow>>c&1 == 1
	case c < 128:
		return tokenHigh>>(c-64)&1 == 1
	}
	return false
}

func isToken(b []byte) bool {
	for _, c := range b {
		if !isTokenByte(c) {
			return false
		}
	}
	return len(b) > 0
}

// isText reports whether b may be a field value: no control byte but tab.
func isText(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// isTarget reports whether b may be a request target: no space, no control byte.
func isTarget(b []byte) bool {
	for _, c := range b {
		if c <= ' ' || c == 0x7f {
			return false
		}
	}
	return len(b) > 0
}

// isHost reports whether b may be a Host header: a name, an IPv4 address or an IPv6
// address in brackets, and optionally a port. Userinfo, a path, and every other
// character that a parser could mistake for the end of a host, are refused.
func isHost(b []byte) bool {
	const maxName = 255
	name, port, _ := bytes.Cut(b, []byte{':'})
	if len(b) > 0 && b[0] == '[' {
		end := bytes.IndexByte(b, ']')
		if end < 0 || !isIPv6(b[1:end]) || end+1 < len(b) && b[end+1] != ':' {
			return false
		}
		name, port = b[:end+1], b[min(end+2, len(b)):]
		return len(name) <= maxName && isPort(port)
	}
	for _, c := range name {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '-' || c == '.' || c == '_':
		default:
			return false
		}
	}
	return len(name) > 0 && len(name) <= maxName && isPort(port)
}

func isIPv6(b []byte) bool {
	addr, err := netip.ParseAddr(string(b))
	return err == nil && addr.Is6() && addr.Zone() == ""
}

// isPort reports whether b is a port number, which may be absent (RFC 3986, 3.2.3).
func isPort(b []byte) bool {
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
		if n = n*10 + int(c-'0'); n > 65535 {
			return false
		}
	}
	return true
}

func trimSpace(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// EqualFold reports whether b is the lower-case ASCII word s in any case.
func EqualFold(b []byte, s string) bool {
	if len(b) != len(s) {
		return false
	}
	for i := range b {
		c := b[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != s[i] {
			return false
		}
	}
	return true
}

// HasToken reports whether the comma-separated list holds the lower-case word.
func HasToken(list []byte, word string) bool {
	for len(list) > 0 {
		var item []byte
		item, list, _ = bytes.Cut(list, comma)
		if EqualFold(trimSpace(item), word) {
			return true
		}
	}
	return false
}

var (
	comma   = []byte{','}        //nolint:gochecknoglobals // constant-like
	headEnd = []byte("\r\n\r\n") //nolint:gochecknoglobals // constant-like
)

// parseLength reads a Content-Length: digits only, at most 18 of them.
func parseLength(b []byte) (int64, bool) {
	if len(b) == 0 || len(b) > 18 {
		return 0, false
	}
	var n int64
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}
