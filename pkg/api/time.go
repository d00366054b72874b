package api

import (
	"fmt"
	"time"
)

// timeFormat is RFC 3339 in UTC with milliseconds.
const timeFormat = "2006-01-02T15:04:05.000Z"

// Time is a timestamp of the API: RFC 3339, UTC, always three digits of
// milliseconds.
type Time struct{ time.Time }

// At returns t for a field that is always there.
func At(t time.Time) Time { return Time{t} }

// MaybeAt returns t for a field that is null until something has happened; nil
// for the zero time.
func MaybeAt(t time.Time) *Time {
	if t.IsZero() {
		return nil
	}
	return &Time{t}
}

// MarshalJSON writes the timestamp in UTC.
func (t Time) MarshalJSON() ([]byte, error) {
	return []byte(`"` + t.UTC().Format(timeFormat) + `"`), nil
}

// UnmarshalJSON reads any RFC 3339 timestamp; null leaves t unchanged.
func (t *Time) UnmarshalJSON(data []byte) error {
	if err := t.Time.UnmarshalJSON(data); err != nil {
		return fmt.Errorf("reading a timestamp: %w", err)
	}
	return nil
}
