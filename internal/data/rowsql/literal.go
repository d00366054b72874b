package rowsql

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/svcctl/svcctl/internal/data/rowdiff"
)

// name quotes the name of a table or a column.
func name(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

func insertion(table string, values []Column) string {
	names, literals := make([]string, len(values)), make([]string, len(values))
	for i, c := range values {
		names[i], literals[i] = name(c.Name), Literal(c.Value)
	}
	if len(values) == 0 { // all columns are generated or have their default
		return "INSERT INTO " + name(table) + " DEFAULT VALUES"
	}
	return "INSERT INTO " + name(table) + " (" + strings.Join(names, ", ") + ") VALUES (" + strings.Join(literals, ", ") + ")"
}

func where(key []Column) string { return " WHERE " + pairs(key, " IS ", " AND ") }

func pairs(columns []Column, is, between string) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = name(c.Name) + is + Literal(c.Value)
	}
	return strings.Join(list, between)
}

// Literal writes a value in SQL so that SQLite reads the same value of the same type. It is
// valid UTF-8 without zero bytes.
func Literal(v rowdiff.Value) string {
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return float(v)
	case string:
		if !utf8.ValidString(v) || strings.ContainsRune(v, 0) {
			return "CAST(" + Literal([]byte(v)) + " AS TEXT)"
		}
		return "'" + strings.ReplaceAll(v, "'", "''") + "'"
	case []byte:
		return "X'" + hex.EncodeToString(v) + "'"
	case nil:
		return "NULL"
	}
	panic(fmt.Sprintf("no value of SQLite: %T", v))
}

// float writes a number that SQLite reads as REAL.
func float(v float64) string {
	if math.IsInf(v, 0) {
		return strconv.FormatFloat(math.Copysign(9, v), 'f', 0, 64) + "e999"
	}
	text := strconv.FormatFloat(v, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}
