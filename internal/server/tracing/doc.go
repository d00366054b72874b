// Package tracing turns requests of the gateway and deploys into spans: OpenTelemetry's
// traces, off unless the settings OTEL_EXPORTER_OTLP_* name a collector.
package tracing
