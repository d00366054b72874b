package main

import (
	"strings"
	"testing"
)

func TestParseBench(t *testing.T) {
	t.Parallel()
	const line = "BenchmarkBranch/fork/live/1ms-2   \t 15\t  1.077 100MB/1MB\t 12.66 ms/100MB\t 9.981 ms/1MB\t 4.188 ms/put\t 4683 put-B/100MB\t 2.000 requests/100MB"
	m, ok := parseBench(line)
	if !ok || m.name != "fork/live/1ms" || m.metrics["ms/100MB"] != 12.66 || m.metrics["requests/100MB"] != 2 {
		t.Fatalf("%+v, %v", m, ok)
	}
	text := m.ofSizes().String()
	for _, want := range []string{"fork, live (+1 ms)", "100MB 12.7 ms, 2 requests, 4.7 KB written", "1MB 10.0 ms, a PUT 4.2 ms", "1.08x 1MB", "| at most 10 ms and 1.5x | no |"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	for _, other := range []string{"", "goos: linux", "PASS", "BenchmarkX-2 1 x y"} {
		if m, ok := parseBench(other); ok {
			t.Errorf("%q is read as %+v", other, m)
		}
	}
}
