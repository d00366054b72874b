// Package otlptest has a collector of OpenTelemetry's traces for tests.
package otlptest
