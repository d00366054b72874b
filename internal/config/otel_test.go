package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/config"
)

// TestTraces: traces are off unless a collector is named.
func TestTraces(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		environ []string
		url     string // "" for no traces
	}{
		"unset":    {nil, ""},
		"endpoint": {[]string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://c.example:4318/"}, "http://c.example:4318/v1/traces"},
		"both":     {[]string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://a.example", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=https://c.example/x"}, "https://c.example/x"},
		"disabled": {[]string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://a.example", "OTEL_SDK_DISABLED=TRUE"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, err := config.LoadDaemon(config.Source{Environ: append(tc.environ, "HOME="+t.TempDir(), "OTEL_RESOURCE_ATTRIBUTES=a=1%2C2, b=3")})
			if err != nil {
				t.Fatal(err)
			}
			got := cfg.Traces
			if got.On() != (tc.url != "") || got.On() && got.URL != tc.url || got.Ratio != 1 || got.Service != "svcctl" {
				t.Errorf("%+v", got)
			}
			if diff := cmp.Diff(map[string]string{"a": "1,2", "b": "3"}, got.Attributes); diff != "" {
				t.Error(diff)
			}
		})
	}
}
