// Package tracing turns requests of the gateway, what workers do for them, and deploys into spans: OpenTelemetry's
// traces, off unless the settings OTEL_EXPORTER_OTLP_* name a collector.
package tracing
