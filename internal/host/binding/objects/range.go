package objects

import (
	"strconv"
	"strings"
)

// spanOf is the part of an object of that size that a get asks for. A header
// that cannot be followed asks for all, as in HTTP.
func (q *request) spanOf(size int64) (wireSpan, error) {
	whole := wireSpan{0, size}
	switch {
	case q.RangeHeader != nil:
		if part, ok := parseRange(*q.RangeHeader, size); ok {
			return part, nil
		}
		return whole, nil
	case q.Range == nil:
		return whole, nil
	case q.Range.Suffix != nil:
		n := min(int64(*q.Range.Suffix), size)
		if n <= 0 {
			return whole, errRange
		}
		return wireSpan{size - n, n}, nil
	}
	part := wireSpan{Length: size}
	if q.Range.Offset != nil {
		part.Offset = int64(*q.Range.Offset)
		part.Length = size - part.Offset
	}
	if q.Range.Length != nil {
		part.Length = int64(*q.Range.Length)
	}
	if part.Offset < 0 || part.Offset > size || part.Length <= 0 {
		return whole, errRange
	}
	part.Length = min(part.Length, size-part.Offset)
	return part, nil
}

// parseRange reads a Range header with one range of bytes that is in a body of
// that size; ok is false for all others.
func parseRange(header string, size int64) (part wireSpan, ok bool) {
	unit, set, found := strings.Cut(header, "=")
	first, last, dash := strings.Cut(set, "-")
	if !found || !dash || !strings.EqualFold(strings.TrimSpace(unit), "bytes") {
		return part, false
	}
	from, hasFrom, ok1 := position(first)
	to, hasTo, ok2 := position(last)
	switch {
	case !ok1 || !ok2:
		return part, false
	case !hasFrom: // the last bytes
		return wireSpan{size - to, to}, hasTo && to > 0 && to < size
	case !hasTo:
		to = size - 1
	}
	to = min(to, size-1)
	return wireSpan{from, to - from + 1}, from <= to && from < size
}

// position reads a number of a range, which may be left out.
func position(text string) (n int64, given, ok bool) {
	if text = strings.TrimSpace(text); text == "" {
		return 0, false, true
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, true, err == nil && n >= 0
}
