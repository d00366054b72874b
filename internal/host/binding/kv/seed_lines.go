package kv

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/svc"
)

// maxSeedLine is the size of a line, in bytes: the largest value in base64, or
// in text of which not everything is escaped.
const maxSeedLine = 64 << 20

// lines stores what the lines of r say, and leaves rows up to kept unchanged.
func (n *namespace) lines(ctx context.Context, c *raw.Conn, name string, r io.Reader, kept int64) error {
	in := bufio.NewReaderSize(r, 64<<10)
	now := time.Now().Unix()
	for number := 1; ; number++ {
		line, err := readLine(in, maxSeedLine)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && number == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if err == nil && len(bytes.TrimSpace(line)) > 0 {
			err = n.storeLine(c, line, now, kept)
		}
		if r, ok := errors.AsType[*refusal](err); ok {
			return seedError(name, fmt.Sprintf("line %d: %s", number, r.text))
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
	}
}

// readLine reads a line of at most limit bytes; after the last the error is
// io.EOF.
func readLine(in *bufio.Reader, most int) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > most:
			return nil, bad("it is longer than %d bytes", most)
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		default:
			return line, err
		}
	}
}

// bad is what is wrong with a line.
func bad(format string, args ...any) error { return refuse(http.StatusBadRequest, format, args...) }

// seedLine is one line of a seed.
type seedLine struct {
	Key           string          `json:"key"`
	Value         *string         `json:"value"`
	Base64        bool            `json:"base64"`
	Expiration    int64           `json:"expiration"`     // seconds since 1970; 0 for never
	ExpirationTTL int64           `json:"expiration_ttl"` // seconds from now; 0 for ever
	Metadata      json.RawMessage `json:"metadata"`
}

// storeLine stores the key of one line, unless it has expired.
func (n *namespace) storeLine(c *raw.Conn, line []byte, now, kept int64) error {
	l, err := parseLine(line)
	if err != nil {
		return err
	}
	if err := checkKey(l.Key); err != nil {
		return err
	}
	value, err := l.value()
	if err != nil {
		return err
	}
	expiration, metadata := any(nil), any(nil)
	switch {
	case l.ExpirationTTL < 0, l.ExpirationTTL > 0 && l.ExpirationTTL < minExpirationTTL:
		return bad("expiration_ttl is %d and must be at least %d seconds", l.ExpirationTTL, minExpirationTTL)
	case l.ExpirationTTL > 0:
		expiration = now + min(l.ExpirationTTL, math.MaxInt64/4)
	case l.Expiration < 0:
		return bad("expiration is %d and must be in seconds since 1970", l.Expiration)
	case l.Expiration > 0 && l.Expiration <= now:
		return nil
	case l.Expiration > 0:
		expiration = l.Expiration
	}
	if text, err := l.metadata(); err != nil {
		return err
	} else if text != "" {
		metadata = text
	}
	return c.Exec(sqlSeed, n.id, l.Key, expiration, metadata, value, kept, now)
}

func parseLine(line []byte) (l seedLine, err error) {
	if !utf8.Valid(line) {
		return l, bad(`it is not UTF-8: write bytes as base64, with "base64": true`)
	}
	if first := bytes.TrimSpace(line)[0]; first == '[' {
		return l, bad("it begins an array, and a line is one object: jq -c '.[]' turns wrangler's file into lines")
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&l); err != nil {
		return l, bad("%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return l, bad("there is more than one object")
	}
	if l.Value == nil {
		return l, bad(`the key %q has no "value"`, l.Key)
	}
	return l, nil
}

func (l *seedLine) value() (value []byte, err error) {
	value = []byte(*l.Value)
	if l.Base64 {
		if value, err = base64.StdEncoding.DecodeString(*l.Value); err != nil {
			return nil, bad("the value of %q is not base64", l.Key)
		}
	}
	if len(value) > maxValue {
		return nil, bad("the value of %q has %d bytes, and %d are the limit", l.Key, len(value), maxValue)
	}
	return value, nil
}

// metadata is JSON, "" for none.
func (l *seedLine) metadata() (string, error) {
	if len(l.Metadata) == 0 || string(l.Metadata) == "null" {
		return "", nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, l.Metadata); err != nil {
		return "", bad("the metadata of %q is not JSON", l.Key)
	}
	if b.Len() > maxMetadata {
		return "", bad("the metadata of %q has %d bytes, and %d are the limit", l.Key, b.Len(), maxMetadata)
	}
	return b.String(), nil
}

func seedError(name, text string) error {
	return svc.Errorf(svc.Unprocessable, svc.CodeSeedFailed, "%s: %s", name, text).
		WithHint("nothing of this file was imported; correct it and deploy again")
}
