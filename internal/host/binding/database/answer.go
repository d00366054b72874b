package database

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/host/binding"
)

// format is the shape of rows in an answer.
type format int

const (
	asObjects format = iota // an object for each row, as run() shows them
	asArrays                // the names of columns, and an array for each row
)

// rows writes the rows of s.
func (x *execution) rows(s *raw.Stmt) error {
	names := make([][]byte, s.Columns())
	for i := range names {
		names[i] = appendString(nil, s.ColumnName(i))
	}
	if x.format == asArrays {
		x.out.WriteString(`{"columns":[`)
		x.out.Write(bytes.Join(names, []byte{','}))
		x.out.WriteString(`],"rows":`)
	}
	x.out.WriteByte('[')
	for n := 0; ; n++ {
		more, err := s.Step()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if n > 0 {
			x.out.WriteByte(',')
		}
		x.row(s, names)
		if x.grow != nil && x.out.Len() > binding.LargeSize {
			if err := x.grow(); err != nil {
				return err
			}
		}
		if x.out.Len() > x.most {
			return errTooMuch
		}
	}
	x.out.WriteByte(']')
	if x.format == asArrays {
		x.out.WriteByte('}')
	}
	return nil
}

func (x *execution) row(s *raw.Stmt, names [][]byte) {
	b := x.out.AvailableBuffer()
	brackets := "[]"
	if x.format == asObjects {
		brackets = "{}"
	}
	b = append(b, brackets[0])
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		if x.format == asObjects {
			b = append(append(b, name...), ':')
		}
		b = appendValue(b, s, i)
	}
	x.out.Write(append(b, brackets[1]))
}

// appendValue writes column i of the current row as JSON: blobs as arrays of
// bytes, numbers that JSON has not as null.
func appendValue(b []byte, s *raw.Stmt, i int) []byte {
	switch s.ColumnType(i) {
	case raw.Integer:
		return strconv.AppendInt(b, s.Int64(i), 10)
	case raw.Float:
		return appendFloat(b, s.Float64(i))
	case raw.Text:
		return appendString(b, s.Text(i))
	case raw.Blob:
		return appendBytes(b, s.View(i))
	case raw.Null:
	}
	return append(b, "null"...)
}

func appendFloat(b []byte, f float64) []byte {
	switch {
	case math.IsInf(f, 0), math.IsNaN(f):
		return append(b, "null"...)
	case f == 0: // also a negative one, which JavaScript writes without its sign
		return append(b, '0')
	}
	return strconv.AppendFloat(b, f, 'g', -1, 64)
}

func appendBytes(b, blob []byte) []byte {
	b = append(b, '[')
	for i, c := range blob {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, uint64(c), 10)
	}
	return append(b, ']')
}

// appendString writes s as a JSON string.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return appendOddString(b, s)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

func appendOddString(b []byte, s string) []byte {
	text, err := json.Marshal(s)
	if err != nil { // a string always encodes
		return append(b, `""`...)
	}
	return append(b, text...)
}

// totals is what the connection that writes has counted, and the size of the
// database in bytes.
type totals struct{ changes, lastRowID, size int64 }

const pageSize = 4096 // bytes, the engine's default, which cannot be changed

// size is that of the pages in use. It asks under no policy.
func size(c *raw.Conn) int64 {
	return pageSize * (pragma(c, "PRAGMA page_count") - pragma(c, "PRAGMA freelist_count"))
}

func pragma(c *raw.Conn, text string) (n int64) {
	_ = c.Query(text, nil, func(s *raw.Stmt) error { // tells only; a failure shows as 0
		n = s.Int64(0)
		return nil
	})
	return n
}

// now is the totals after a statement. A reader changes none.
func (x *execution) now() totals {
	if x.policy.reader {
		return x.before
	}
	x.c.SetAuthorizer(nil)
	defer x.c.SetAuthorizer(x.policy.allow)
	return totals{x.c.TotalChanges(), x.c.LastInsertRowID(), size(x.c)}
}

// meta writes the end of an answer.
func (x *execution) meta(took time.Duration, rowsRead, rowsWritten int64) {
	before, now := x.before, x.now()
	x.before = now
	changes := now.changes - before.changes
	ms := float64(took.Microseconds()) / 1000
	b := x.out.AvailableBuffer()
	b = append(b, `,"meta":{"served_by":"svcctl","served_by_primary":true,"total_attempts":1,"timings":{"sql_duration_ms":`...)
	b = strconv.AppendFloat(b, ms, 'f', -1, 64)
	b = append(b, `},"duration":`...)
	b = strconv.AppendFloat(b, ms, 'f', -1, 64)
	b = append(b, `,"changes":`...)
	b = strconv.AppendInt(b, changes, 10)
	b = append(b, `,"last_row_id":`...)
	b = strconv.AppendInt(b, now.lastRowID, 10)
	b = append(b, `,"changed_db":`...)
	b = strconv.AppendBool(b, now != before)
	b = append(b, `,"size_after":`...)
	b = strconv.AppendInt(b, now.size, 10)
	b = append(b, `,"rows_read":`...)
	b = strconv.AppendInt(b, rowsRead, 10)
	b = append(b, `,"rows_written":`...)
	b = strconv.AppendInt(b, rowsWritten, 10)
	b = append(b, '}', '}')
	x.out.Write(b)
}
