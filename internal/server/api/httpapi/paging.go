package httpapi

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// The sizes of lists. spec: [C12.2] [C12.3] [D7].
const (
	defaultLimit = 50
	maxLimit     = 200
	defaultTail  = 100
	maxTail      = 1000
)

// checkQuery rejects a malformed query and normalizes its numbers: more than the
// maximum becomes the maximum; zero, less, or no number is an error [D7].
func checkQuery(r *http.Request, rule rule) error {
	if r.URL.RawQuery == "" {
		return nil
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return svc.Errorf(svc.BadRequest, svc.CodeInvalidQuery, "the query of the URL is malformed")
	}
	if err := checkNames(query, rule.query); err != nil {
		return err
	}
	if err := settle(query, "limit", svc.CodeInvalidLimit, cmp.Or(rule.limit, maxLimit)); err != nil {
		return err
	}
	if err := settle(query, "tail", svc.CodeInvalidTail, maxTail); err != nil {
		return err
	}
	r.URL.RawQuery = query.Encode()
	return nil
}

// checkNames rejects parameters other than known ones, unless known is nil.
func checkNames(query url.Values, known []string) error {
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if known != nil && !slices.Contains(known, name) {
			return svc.Errorf(svc.BadRequest, svc.CodeUnknownParameter, "unknown parameter %q", name).
				WithHint("use %s", strings.Join(known, ", "))
		}
	}
	return nil
}

// settle makes query[name], if present, a number from 1 to most. Its error has the
// given code.
func settle(query url.Values, name, code string, most int) error {
	if !query.Has(name) {
		return nil
	}
	text := query.Get(name)
	digits := strings.TrimLeft(text, "0")
	if len(query[name]) != 1 || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return svc.Errorf(svc.BadRequest, code, "%s must be a number from 1 to %d", name, most)
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n > most { // a number too long for an int is more than most
		n = most
	}
	query.Set(name, strconv.Itoa(n))
	return nil
}

// pageOf reads the paging parameters of a list.
func pageOf(scope string, limit *int, cursor *string) (svc.PageRequest, error) {
	p := svc.PageRequest{Limit: defaultLimit}
	if limit != nil {
		p.Limit = *limit
	}
	if cursor == nil || *cursor == "" {
		return p, nil
	}
	var err error
	p.Before, err = readCursor(scope, *cursor)
	return p, err
}

// A cursor is the position of the last row of a page, bound to a list and its
// filters by a hash of their names. It needs no signature: a forged cursor can only
// select another page of the same list.
const (
	cursorVersion = 1
	cursorSize    = 1 + 8 + 8
)

// scopeOf identifies a list with its filters.
func scopeOf(parts ...string) string { return strings.Join(parts, "\x00") }

// newCursor returns next_cursor after position at; nil after the last page.
func newCursor(scope string, at int64) *string {
	if at == 0 {
		return nil
	}
	b := make([]byte, 0, cursorSize)
	b = append(b, cursorVersion)
	b = binary.BigEndian.AppendUint64(b, uint64(at)) //nolint:gosec // positions are not negative
	sum := sha256.Sum256([]byte(scope))
	b = append(b, sum[:8]...)
	text := base64.RawURLEncoding.EncodeToString(b)
	return &text
}

func readCursor(scope, text string) (int64, error) {
	if len(text) != base64.RawURLEncoding.EncodedLen(cursorSize) { // the decoder would skip line breaks
		return 0, errCursor()
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	sum := sha256.Sum256([]byte(scope))
	if err != nil || len(b) != cursorSize || b[0] != cursorVersion || string(b[9:]) != string(sum[:8]) {
		return 0, errCursor()
	}
	at := int64(binary.BigEndian.Uint64(b[1:9])) //nolint:gosec // checked below
	if at <= 0 {
		return 0, errCursor()
	}
	return at, nil
}

func errCursor() error {
	return svc.Errorf(svc.BadRequest, svc.CodeInvalidCursor, "the cursor does not belong to this list with these filters").
		WithHint("start again without a cursor")
}
