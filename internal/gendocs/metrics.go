package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/svcctl/svcctl/internal/obs"
)

const metricsHead = `# Metrics
` + notice + `
The API port serves these at ` + "`/metrics`" + ` in the Prometheus format, together with the metrics of the process and of the Go
runtime. Times are in seconds, sizes in bytes. A series with a label ` + "`version`" + ` ends with the version.

| metric | labels | meaning |
|---|---|---|
`

// addMetrics writes the reference of the metrics.
func addMetrics(out files) error {
	b := bytes.NewBufferString(metricsHead)
	for _, d := range obs.Describe() {
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", d.Name, cell(strings.Join(d.Labels, ", ")), cell(d.Help))
	}
	out["docs/reference/metrics.md"] = b.Bytes()
	return nil
}
