package otlp

import (
	"encoding/binary"
	"time"
)

// The types of fields in protobuf's wire format.
const (
	varint  = 0
	fixed64 = 1
	block   = 2
)

const statusError = 2 // of a span

// encode returns an ExportTraceServiceRequest of opentelemetry.proto.collector.trace.v1.
func encode(resource []Attr, spans []Span) []byte {
	var attrs, list []byte
	for _, a := range resource {
		attrs = message(attrs, 1, a.encode())
	}
	list = message(list, 1, text(nil, 1, "svcctl")) // ScopeSpans.scope.name
	for i := range spans {
		list = message(list, 2, spans[i].encode())
	}
	one := message(nil, 1, attrs)                 // ResourceSpans.resource
	return message(nil, 1, message(one, 2, list)) // and its scope_spans
}

func (s *Span) encode() []byte {
	b := message(nil, 1, s.Trace[:])
	b = message(b, 2, s.ID[:])
	if s.Parent != [8]byte{} {
		b = message(b, 4, s.Parent[:])
	}
	b = text(b, 5, s.Name)
	b = number(b, 6, uint64(s.Kind))
	b = instant(b, 7, s.Start)
	b = instant(b, 8, s.End)
	for _, a := range s.Attrs {
		b = message(b, 9, a.encode())
	}
	if s.Failed {
		b = message(b, 15, number(text(nil, 2, s.Error), 3, statusError))
	}
	return b
}

// encode returns a KeyValue.
func (a Attr) encode() []byte {
	var value []byte
	if a.kind == stringValue {
		value = tag(value, stringValue, block)
		value = append(binary.AppendUvarint(value, uint64(len(a.text))), a.text...) // also an empty one
	} else {
		value = number(value, intValue, uint64(a.n)) //nolint:gosec // as protobuf's int64
	}
	return message(text(nil, 1, a.key), 2, value)
}

func tag(b []byte, field, kind uint64) []byte { return binary.AppendUvarint(b, field<<3|kind) }

func message(b []byte, field uint64, content []byte) []byte {
	return append(binary.AppendUvarint(tag(b, field, block), uint64(len(content))), content...)
}

// text appends a text that is not empty.
func text(b []byte, field uint64, s string) []byte {
	if s == "" {
		return b
	}
	return message(b, field, []byte(s))
}

func number(b []byte, field, n uint64) []byte { return binary.AppendUvarint(tag(b, field, varint), n) }

func instant(b []byte, field uint64, t time.Time) []byte {
	return binary.LittleEndian.AppendUint64(tag(b, field, fixed64), uint64(t.UnixNano()))
}
