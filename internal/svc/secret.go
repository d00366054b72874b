package svc

import "log/slog"

// Secret is a string that never prints: not with %v, not in JSON, not in logs.
// Reveal is the one way to its value.
type Secret string

const redacted = "[redacted]"

// Reveal returns the value itself.
func (s Secret) Reveal() string { return string(s) }

func (s Secret) String() string               { return redacted }
func (s Secret) GoString() string             { return redacted }
func (s Secret) LogValue() slog.Value         { return slog.StringValue(redacted) }
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
