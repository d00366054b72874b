package otlp

import "time"

// Kind is the role of a span, by its number in OTLP.
type Kind uint64

// The kinds.
const (
	Internal Kind = 1
	Server   Kind = 2
	Client   Kind = 3
)

// Span is a part of a trace that has ended.
type Span struct {
	Trace      [16]byte
	ID, Parent [8]byte // Parent is zero for the first span of a trace
	Name       string
	Kind       Kind
	Start, End time.Time
	Attrs      []Attr
	Failed     bool
	Error      string // of a failed span; may be ""
}

// Attr is a property of a span or of the process. Make it with String or Int.
type Attr struct {
	key  string
	text string
	n    int64
	kind uint8 // field of AnyValue
}

const (
	stringValue = 1
	intValue    = 3
)

// String returns a property that is a text.
func String(key, value string) Attr { return Attr{key: key, text: value, kind: stringValue} }

// Int returns a property that is a number.
func Int(key string, value int64) Attr { return Attr{key: key, n: value, kind: intValue} }
