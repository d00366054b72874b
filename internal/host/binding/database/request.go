package database

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/svcctl/svcctl/internal/host/binding"
)

// query is one statement, or several in one text of which only the last may
// have parameters, as the binding sends it.
type query struct {
	SQL    string  `json:"sql"`
	Params []param `json:"params"`
}

// param is one parameter: nil, float64, string or []byte. Numbers are all
// floating point, as on D1: a column's affinity makes integers of them.
type param struct{ value any }

// UnmarshalJSON reads null, a number, a string, a boolean (as 0 or 1) or an
// array of bytes.
func (p *param) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case 'n':
		p.value = nil
	case 't':
		p.value = 1.0
	case 'f':
		p.value = 0.0
	case '"':
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		p.value = s
	case '[':
		return p.readBytes(b)
	case '{':
		return errors.New("a parameter is null, a number, a string or an array of bytes")
	default:
		f, err := strconv.ParseFloat(string(b), 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) { // past the range: infinite, as in JavaScript
			return err
		}
		p.value = f
	}
	return nil
}

// readBytes reads an array of numbers, each taken modulo 256.
func (p *param) readBytes(b []byte) error {
	out := make([]byte, 0, len(b)/3)
	number, digits := byte(0), 0 // which overflows as JavaScript's does
	for _, c := range b[1:] {
		switch {
		case c >= '0' && c <= '9':
			number, digits = number*10+(c-'0'), digits+1
		case c == ',' || c == ']':
			if digits > 0 {
				out = append(out, number)
			}
			number, digits = 0, 0
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
		default:
			return errors.New("an array parameter is one of bytes")
		}
	}
	p.value = out
	return nil
}

func errUnreadable(err error) error { return fmt.Errorf("the request cannot be read: %w", err) }

// readBody reads a body, to its end. It waits for large before it holds a large one.
func readBody(r *http.Request, large *binding.Large) ([]byte, error) {
	body, err := large.ReadBody(r, maxRequest)
	if err == nil && len(body) > maxRequest {
		_, _ = io.Copy(io.Discard, r.Body)
		return nil, fmt.Errorf("the request is longer than %d bytes", maxRequest)
	}
	return body, err
}
