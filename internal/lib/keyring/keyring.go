package keyring

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/svcctl/svcctl/internal/lib/aead"
)

// keySize is the length of a key, in bytes.
const keySize = 32

// The reasons why a sealed text does not open.
var (
	ErrNoKey = errors.New("the ring does not have the key")
	ErrTorn  = errors.New("the key does not open the sealed text")
)

// Ring holds keys by their ids. The first one seals; all open.
type Ring struct {
	ids  []string
	keys map[string][]byte
}

var idPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,31}$`)

// Parse reads keys, one a line: an id, ":", and 32 bytes in base64. It ignores empty lines and those that
// begin with #. Its errors name a line and repeat nothing of it.
func Parse(text string) (*Ring, error) {
	r := &Ring{keys: map[string][]byte{}}
	for n, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		id, encoded, _ := strings.Cut(line, ":")
		key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
		if err != nil || len(key) != keySize || !idPattern.MatchString(id) || r.keys[id] != nil {
			return nil, fmt.Errorf("line %d: want ID:KEY with %d bytes in base64, and each id once", n+1, keySize)
		}
		r.ids, r.keys[id] = append(r.ids, id), key
	}
	if len(r.ids) == 0 {
		return nil, errors.New("no key")
	}
	return r, nil
}

// NewLine returns a line with a new key.
func NewLine(id string) (string, error) {
	if !idPattern.MatchString(id) {
		return "", errors.New("an id has at most 32 lower-case letters, digits, '.', '_' and '-', and begins with a letter or a digit")
	}
	key := make([]byte, keySize)
	_, _ = rand.Read(key) // it never fails
	return id + ":" + base64.StdEncoding.EncodeToString(key), nil
}

// Current is the id of the key that seals.
func (r *Ring) Current() string { return r.ids[0] }

// Has reports whether the ring has a key.
func (r *Ring) Has(id string) bool { return r.keys[id] != nil }

// Seal seals text with the current key. purpose derives a key of its own; what was sealed opens only with
// the same purpose and place.
func (r *Ring) Seal(purpose, place, text string) (sealed []byte, err error) {
	a, err := aead.New(r.keys[r.Current()], purpose)
	if err != nil {
		return nil, err
	}
	return a.Seal(nil, nil, []byte(text), []byte(place)), nil //nolint:gosec // the nonce is random: see aead.New
}

// Open opens what the key id sealed. Errors: ErrNoKey, ErrTorn.
func (r *Ring) Open(id, purpose, place string, sealed []byte) (string, error) {
	key := r.keys[id]
	if key == nil {
		return "", ErrNoKey
	}
	a, err := aead.New(key, purpose)
	if err != nil {
		return "", err
	}
	text, err := a.Open(nil, nil, sealed, []byte(place))
	if err != nil {
		return "", ErrTorn
	}
	return string(text), nil
}

// Keys returns the keys by their ids, as Parse reads them: a log must not show them.
func (r *Ring) Keys() map[string]string {
	all := map[string]string{}
	for id, key := range r.keys {
		all[id] = base64.StdEncoding.EncodeToString(key)
	}
	return all
}

// String hides the keys from fmt.
func (r *Ring) String() string { return "[redacted]" }

// GoString hides the keys from %#v.
func (r *Ring) GoString() string { return "[redacted]" }
