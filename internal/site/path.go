package site

import (
	"net/url"
	"strings"
	"unicode/utf8"
)

const upperHex = "0123456789ABCDEF"

// normalize writes the path of a request as the URL that a worker sees: dot segments are
// resolved, and bytes that no URL has are encoded.
func normalize(p string) string {
	if p == "" || p[0] != '/' {
		p = "/" + p
	}
	if strings.Contains(p, `\`) {
		p = strings.ReplaceAll(p, `\`, "/")
	}
	if strings.Contains(p, "/.") || strings.Contains(p, "/%2") {
		p = resolveDots(p)
	}
	return encodeBytes(p, inURL)
}

// inURL reports whether the path of an URL may have the byte.
func inURL(c byte) bool { return c > ' ' && c < 0x7f && strings.IndexByte("\"#<>^`{}", c) < 0 }

// resolveDots removes "." and ".." from a path, as browsers do.
func resolveDots(p string) string {
	parts := strings.Split(p[1:], "/")
	var kept []string
	for i, part := range parts {
		last := i == len(parts)-1
		switch strings.ReplaceAll(strings.ToLower(part), "%2e", ".") {
		case "..":
			kept = kept[:max(0, len(kept)-1)]
		case ".":
		default:
			kept = append(kept, part)
			continue
		}
		if last {
			kept = append(kept, "")
		}
	}
	return "/" + strings.Join(kept, "/")
}

// decode decodes each part of a path; a part that is not encoded text stays unchanged.
// Empty parts vanish.
func decode(p string) string {
	if strings.IndexByte(p, '%') >= 0 {
		parts := strings.Split(p, "/")
		for i, part := range parts {
			if text, err := url.PathUnescape(part); err == nil && utf8.ValidString(text) {
				parts[i] = text
			}
		}
		p = strings.Join(parts, "/")
	}
	for strings.Contains(p, "//") {
		p = strings.ReplaceAll(p, "//", "/")
	}
	return p
}

// encode is the one way in which a decoded path is written in an URL.
func encode(p string) string {
	return encodeBytes(p, func(c byte) bool {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
			return true
		}
		return strings.IndexByte("/-_.!~*'()", c) >= 0
	})
}

// encodeBytes encodes the bytes of s that keep does not keep.
func encodeBytes(s string, keep func(byte) bool) string {
	plain := 0
	for plain < len(s) && keep(s[plain]) {
		plain++
	}
	if plain == len(s) {
		return s
	}
	b := append(make([]byte, 0, len(s)+16), s[:plain]...)
	for i := plain; i < len(s); i++ {
		if c := s[i]; keep(c) {
			b = append(b, c)
		} else {
			b = append(b, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return string(b)
}
