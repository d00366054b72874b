package cache

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxSeconds is the longest time that a directive means, as RFC 9111 has it.
const maxSeconds = 1 << 31

// control are the directives of Cache-Control, in lower case, with their values.
type control map[string]string

func parseControl(values []string) control {
	c := control{}
	rest := strings.Join(values, ",")
	for rest != "" {
		var name, value string
		name, value, rest = directive(rest)
		if _, known := c[name]; name != "" && !known {
			c[name] = value
		}
	}
	return c
}

// directive takes the first directive off text. A value may be quoted, with commas in it.
func directive(text string) (name, value, rest string) {
	end := strings.IndexAny(text, ",=")
	if end < 0 {
		return clean(text), "", ""
	}
	name = clean(text[:end])
	if text[end] == ',' {
		return name, "", text[end+1:]
	}
	text = strings.TrimLeft(text[end+1:], " \t")
	if quoted, ok := strings.CutPrefix(text, `"`); ok {
		value, rest, _ = strings.Cut(quoted, `"`)
		_, rest, _ = strings.Cut(rest, ",")
		return name, value, rest
	}
	value, rest, _ = strings.Cut(text, ",")
	return name, strings.TrimSpace(value), rest
}

func clean(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

func (c control) has(name string) bool {
	_, ok := c[name]
	return ok
}

// seconds is the time that a directive gives. A value that is no number counts as 0.
func (c control) seconds(name string) (time.Duration, bool) {
	value, ok := c[name]
	n, err := strconv.ParseUint(value, 10, 64)
	if err != nil {
		n = 0
	}
	return time.Duration(min(n, maxSeconds)) * time.Second, ok
}

// withoutCookie obeys private=set-cookie: the response is stored without its cookies. It
// removes both from header.
func (c control) withoutCookie(header http.Header) {
	if !strings.EqualFold(strings.TrimSpace(c["private"]), "set-cookie") {
		return
	}
	delete(c, "private")
	header.Del("Set-Cookie")
	var kept []string
	for part := range strings.SplitSeq(strings.Join(header["Cache-Control"], ","), ",") {
		if name, _, _ := strings.Cut(part, "="); clean(name) != "private" && clean(name) != "" {
			kept = append(kept, strings.TrimSpace(part))
		}
	}
	header["Cache-Control"] = []string{strings.Join(kept, ", ")}
	if len(kept) == 0 {
		delete(header, "Cache-Control")
	}
}
