package daemon

import (
	"maps"
	"slices"

	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/lib/buildinfo"
	"github.com/svcctl/svcctl/internal/lib/otlp"
	"github.com/svcctl/svcctl/internal/server/tracing"
	"github.com/svcctl/svcctl/internal/svc"
)

// startTraces begins to send traces if the settings name a collector.
func (d *Daemon) startTraces() {
	t := d.cfg.Traces
	if !t.On() {
		return
	}
	build := buildinfo.Read()
	resource := []otlp.Attr{
		otlp.String("service.name", t.Service), otlp.String("service.version", build.Version), otlp.String("telemetry.sdk.language", "go"),
	}
	for _, name := range slices.Sorted(maps.Keys(t.Attributes)) {
		if name != "service.name" {
			resource = append(resource, otlp.String(name, t.Attributes[name]))
		}
	}
	exporter := otlp.New(otlp.Config{URL: t.URL, Headers: t.Headers, Resource: resource, Logger: d.logger})
	d.stops.Push("traces", exporter.Stop)
	d.tracer = tracing.New(exporter, t.Ratio)
}

// sampled is Config.Sampled of the gateway.
func (d *Daemon) sampled() func([]byte) bool {
	if d.tracer == nil {
		return nil
	}
	return d.tracer.Sampled
}

// trace records a request whose trace is recorded.
func trace(t *tracing.Tracer, o gateway.Observation) {
	if o.Trace == nil {
		return
	}
	t.Request(&tracing.Request{
		Trace: o.Trace, ID: o.ID, Parent: o.Parent, Ref: o.Ref, Role: o.Role, Method: string(o.Method), Path: svc.HideQuery(string(o.Target)),
		Status: o.Status, Error: o.Error, Threw: o.Threw, Start: o.Start, Duration: o.Duration,
	})
}
