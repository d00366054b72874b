package registry

import (
	"context"
	"database/sql"
	"time"
	"unicode/utf8"
)

// querier is implemented by *sql.DB and *sql.Tx.
type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// scanner is implemented by *sql.Row and *sql.Rows.
type scanner interface{ Scan(dest ...any) error }

// collect runs a query and scans every row of its result.
func collect[T any](ctx context.Context, q querier, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// affected runs a statement and returns the number of changed rows.
func affected(ctx context.Context, q querier, query string, args ...any) (int64, error) {
	res, err := q.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// millis returns t as a column: milliseconds, or NULL for a zero time.
func millis(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

// stamp scans a column written by millis.
type stamp struct{ t *time.Time }

// Scan implements sql.Scanner.
func (s stamp) Scan(src any) error {
	var n sql.NullInt64
	if err := n.Scan(src); err != nil {
		return err
	}
	*s.t = time.Time{}
	if n.Valid {
		*s.t = time.UnixMilli(n.Int64).UTC()
	}
	return nil
}

// micros scans a column of microseconds.
type micros struct{ d *time.Duration }

// Scan implements sql.Scanner.
func (m micros) Scan(src any) error {
	var n sql.NullInt64
	err := n.Scan(src)
	*m.d = time.Duration(n.Int64) * time.Microsecond
	return err
}

// null stores "" as NULL.
func null(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }

// maxText is the maximum length of a stored error or detail in bytes [D16].
const maxText = 2048

// clip cuts s to maxText bytes without splitting a character.
func clip(s string) string {
	if len(s) <= maxText {
		return s
	}
	const mark = "…"
	end := maxText - len(mark)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + mark
}
