package binding

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// scopeSize is how many bytes of a scope's hash are in a cursor.
const scopeSize = 8

// Scope names a list with its filters, for its cursors.
func Scope(parts ...string) string { return strings.Join(parts, "\x00") }

// Cursor is the next_cursor of a list: position, which json can encode, bound
// to the list's scope. It needs no signature: a forged cursor selects another page
// of the same list at most.
func Cursor(scope string, position any) (string, error) {
	text, err := json.Marshal(position)
	if err != nil {
		return "", fmt.Errorf("encoding a cursor: %w", err)
	}
	sum := sha256.Sum256([]byte(scope))
	return base64.RawURLEncoding.EncodeToString(append(sum[:scopeSize:scopeSize], text...)), nil
}

// ReadCursor reads a cursor into position, which is unchanged for "".
func ReadCursor(scope, cursor string, position any) error {
	if cursor == "" {
		return nil
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	sum := sha256.Sum256([]byte(scope))
	if err != nil || !bytes.HasPrefix(b, sum[:scopeSize]) || json.Unmarshal(b[scopeSize:], position) != nil {
		return svc.Errorf(svc.BadRequest, svc.CodeInvalidCursor, "invalid cursor: it belongs to another list or to other filters").
			WithHint("start again without a cursor")
	}
	return nil
}
