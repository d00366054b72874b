// Package otlp sends spans of traces to a collector: OTLP over HTTP, in protobuf. It needs no
// library: a span is a few fields.
package otlp
