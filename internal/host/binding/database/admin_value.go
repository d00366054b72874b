package database

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

// maxExact is the largest integer up to which JavaScript has them all.
const maxExact = 1 << 53

// appendExact writes column i of the current row as JSON that loses nothing:
// blobs as {"$base64":"…"}, integers that JavaScript has not as strings [D33].
func appendExact(b []byte, s *raw.Stmt, i int) []byte {
	switch s.ColumnType(i) {
	case raw.Integer:
		if n := s.Int64(i); n > maxExact || n < -maxExact {
			return append(strconv.AppendInt(append(b, '"'), n, 10), '"')
		}
	case raw.Float:
		if f := s.Float64(i); math.IsInf(f, 0) {
			return append(strconv.AppendFloat(append(b, '"'), f, 'g', -1, 64), '"')
		}
	case raw.Blob:
		b = append(b, `{"$base64":"`...)
		return append(base64.StdEncoding.AppendEncode(b, s.View(i)), `"}`...)
	case raw.Text, raw.Null:
	}
	return appendValue(b, s, i)
}

// readExact reads a parameter of the API: null, true or false as 1 or 0, a
// number, a string or {"$base64":"…"}. Whole numbers are integers.
func readExact(text json.RawMessage) (any, error) {
	var v any
	dec := json.NewDecoder(strings.NewReader(string(text)))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case nil, string, bool:
		return v, nil
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n, nil
		}
		return v.Float64()
	case map[string]any:
		if encoded, ok := v["$base64"].(string); ok && len(v) == 1 {
			return base64.StdEncoding.DecodeString(encoded)
		}
	}
	return nil, errors.New(`want null, a number, a string, true, false or {"$base64": "…"}`)
}

// value is the value of a column that keeps its type through JSON, for cursors.
type value struct {
	Type raw.Type `json:"t"`
	Data string   `json:"d,omitempty"`
}

func valueOf(s *raw.Stmt, i int) value {
	v := value{Type: s.ColumnType(i)}
	switch v.Type {
	case raw.Integer:
		v.Data = strconv.FormatInt(s.Int64(i), 10)
	case raw.Float:
		v.Data = strconv.FormatFloat(s.Float64(i), 'x', -1, 64)
	case raw.Text, raw.Blob:
		v.Data = base64.StdEncoding.EncodeToString(s.Blob(i))
	case raw.Null:
	}
	return v
}

// bind is the value for a parameter.
func (v value) bind() (any, error) {
	switch v.Type {
	case raw.Integer:
		return strconv.ParseInt(v.Data, 10, 64)
	case raw.Float:
		return strconv.ParseFloat(v.Data, 64)
	case raw.Text:
		text, err := base64.StdEncoding.DecodeString(v.Data)
		return string(text), err
	case raw.Blob:
		return base64.StdEncoding.DecodeString(v.Data)
	case raw.Null:
		return nil, nil // NULL is a value
	}
	return nil, errors.New("no such type")
}
