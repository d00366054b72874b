package config

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// Traces says where traces go: the standard variables of OpenTelemetry.
type Traces struct {
	URL        string // of the collector, with its path; "" for no traces
	Headers    map[string]string
	Service    string
	Attributes map[string]string // of the process
	Ratio      float64           // of the traces that begin here; 0 to 1
	off        bool
}

// traces are the settings of OpenTelemetry. Empty ones are as unset.
func traces() []Setting {
	return []Setting{
		{
			Env: "OTEL_EXPORTER_OTLP_ENDPOINT", Help: "collector of OpenTelemetry that gets traces, such as http://127.0.0.1:4318; default: none",
			parse: func(d *Daemon, v string) error {
				u, err := httpURL(v)
				if err == nil {
					d.Traces.URL = u + "/v1/traces"
				}
				return err
			},
		},
		{
			Env: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", Help: "address of the collector for traces, with its path, in place of OTEL_EXPORTER_OTLP_ENDPOINT",
			parse: func(d *Daemon, v string) (err error) { d.Traces.URL, err = httpURL(v); return err },
		},
		{
			Env: "OTEL_EXPORTER_OTLP_PROTOCOL", Default: "http/protobuf", Help: "protocol to the collector; http/protobuf is the only one",
			parse: func(_ *Daemon, v string) error { _, err := oneOf(v, "http/protobuf"); return err },
		},
		{
			Env: "OTEL_EXPORTER_OTLP_HEADERS", Secret: true, Help: "headers of requests to the collector, such as a credential: name=value, with commas between",
			parse: func(d *Daemon, v string) (err error) { d.Traces.Headers, err = pairs(v); return err },
		},
		{
			Env: "OTEL_SERVICE_NAME", Default: "svcctl", Help: "name of this server in traces",
			parse: func(d *Daemon, v string) error { d.Traces.Service = v; return nil },
		},
		{
			Env: "OTEL_RESOURCE_ATTRIBUTES", Help: "properties of this server in traces: name=value, with commas between",
			parse: func(d *Daemon, v string) (err error) { d.Traces.Attributes, err = pairs(v); return err },
		},
		{
			Env: "OTEL_TRACES_SAMPLER_ARG", Default: "1", Help: "part of the traces that begin at this server and are recorded, 0 to 1; clients decide for theirs",
			parse: func(d *Daemon, v string) (err error) {
				d.Traces.Ratio, err = strconv.ParseFloat(v, 64)
				if err != nil || !(d.Traces.Ratio >= 0 && d.Traces.Ratio <= 1) {
					return errors.New("want a number from 0 to 1")
				}
				return nil
			},
		},
		{
			Env: "OTEL_SDK_DISABLED", Default: "false", Help: "true sends no traces",
			parse: func(d *Daemon, v string) error {
				_, err := oneOf(strings.ToLower(v), "true", "false")
				d.Traces.off = strings.EqualFold(v, "true")
				return err
			},
		},
	}
}

// On reports whether there are traces.
func (t *Traces) On() bool { return t.URL != "" && !t.off }

// pairs reads name=value pairs, percent-encoded, with commas between.
func pairs(v string) (map[string]string, error) {
	all := map[string]string{}
	for part := range strings.SplitSeq(v, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if name = strings.TrimSpace(name); !ok || name == "" || err != nil {
			return nil, fmt.Errorf("want name=value, with commas between; part %d is not", len(all)+1)
		}
		all[name] = value
	}
	return all, nil
}
