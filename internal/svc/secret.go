package svc

import "log/slog"

// Secret is a string that fmt, JSON and logs print as "[redacted]". Only Reveal
// returns its value.
type Secret string

const redacted = "[redacted]"

// Reveal returns the value.
func (s Secret) Reveal() string { return string(s) }

// String hides the value from fmt.
func (s Secret) String() string { return redacted }

// GoString hides the value from %#v.
func (s Secret) GoString() string { return redacted }

// LogValue hides the value from slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText hides the value from JSON and YAML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
