package objects

import (
	"bytes"
	"crypto/md5"  //nolint:gosec // what the protocol has
	"crypto/sha1" //nolint:gosec // likewise
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
)

const md5Size = md5.Size

// digest is a checksum that is worked out while a body passes.
type digest struct {
	number, name string // in the protocol, and for people
	hash         hash.Hash
	want         []byte // nil: it may be any
}

// digests are those of a put: the MD5 always, and what the request gives.
func (q *request) digests() ([]digest, error) {
	all := []digest{{"0", "MD5", md5.New(), q.MD5}} //nolint:gosec // see above
	for _, d := range []struct {
		number, name string
		make         func() hash.Hash
		given        *string
	}{
		{"1", "SHA-1", sha1.New, q.SHA1},
		{"2", "SHA-256", sha256.New, q.SHA256},
		{"3", "SHA-384", sha512.New384, q.SHA384},
		{"4", "SHA-512", sha512.New, q.SHA512},
	} {
		if d.given == nil {
			continue
		}
		want, err := hex.DecodeString(*d.given)
		if err != nil {
			return nil, invalid("The %s checksum is not in hex.", d.name)
		}
		all = append(all, digest{d.number, d.name, d.make(), want})
	}
	return all, nil
}

// checked is a body that works its digests out. At its end it asks verify, and
// ends with that error instead of io.EOF.
type checked struct {
	from    io.Reader
	digests []digest
	verify  func() error
}

// Read passes a part on.
func (c *checked) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	for _, d := range c.digests {
		_, _ = d.hash.Write(p[:n]) // it never fails
	}
	if errors.Is(err, io.EOF) {
		if refused := c.verify(); refused != nil {
			err = refused
		}
	}
	return n, err
}

// compare holds the digests against what was given.
func compare(digests []digest) error {
	for _, d := range digests {
		if sum := d.hash.Sum(nil); d.want != nil && !bytes.Equal(sum, d.want) {
			return badDigest(d.name, d.want, sum)
		}
	}
	return nil
}

// sums gives the MD5, and the others as JSON, "" for none.
func sums(digests []digest) (etag, others string, err error) {
	rest := map[string]string{}
	for _, d := range digests {
		rest[d.number] = hex.EncodeToString(d.hash.Sum(nil))
	}
	etag = rest["0"]
	if delete(rest, "0"); len(rest) == 0 {
		return etag, "", nil
	}
	text, err := json.Marshal(rest)
	if err != nil {
		return "", "", fmt.Errorf("encoding checksums: %w", err)
	}
	return etag, string(text), nil
}
