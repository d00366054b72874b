package workerhost

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/host/workerd"
)

// TestFinalOutputRedact has values that are longer than what is shown of a line.
func TestFinalOutputRedact(t *testing.T) {
	t.Parallel()
	log, err := openLog(t.TempDir(), nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	long := strings.Repeat("long-secret", 90)
	w := &worker{stdout: newOutput(log), env: map[string]string{"LONG": long, "KEY": "first line\nsecond line"}}
	if got := w.finalOutput(); got != "" {
		t.Errorf("of a silent worker: %q", got)
	}
	for _, message := range []string{"dropped", "a " + long + " b", "first line", "second line", "first line\nsecond line", strings.Repeat("é", consoleLength)} {
		w.stdout.line(workerd.LogLine{Level: "log", Source: workerd.SourceConsole, Message: message})
	}
	w.stdout.line(workerd.LogLine{Level: "error", Source: workerd.SourceException, Message: "not the worker's"})
	want := "log: a [redacted] b\nlog: [redacted]\nlog: [redacted]\nlog: [redacted]\nlog: " + strings.Repeat("é", (consoleLength-len("log: "))/2)
	if got := w.finalOutput(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	w.stdout.settle()
	w.stdout.line(workerd.LogLine{Level: "log", Source: workerd.SourceConsole, Message: "serving"})
	if got := w.finalOutput(); got != "" {
		t.Errorf("of a worker that serves: %q", got)
	}
}

// TestLastOutputIsWholeLines for the end of a value is not known for a value.
func TestLastOutputIsWholeLines(t *testing.T) {
	t.Parallel()
	for name, chunk := range map[string]int{"small writes": 100, "writes of what is kept": keptOutput, "large writes": 2 * keptOutput, "one write": 5 * keptOutput} {
		var all strings.Builder
		for i := range 5 * keptOutput / 10 {
			fmt.Fprintf(&all, "%09d\n", i)
		}
		var o output
		if _, err := fmt.Fprint(&o, "whole"); err != nil || o.last() != "whole" {
			t.Errorf("%s: %q, %v", name, o.last(), err)
		}
		rest := "\n" + all.String()
		for len(rest) > 0 {
			n := min(chunk, len(rest))
			_, _ = o.Write([]byte(rest[:n])) // it never fails
			rest = rest[n:]
		}
		last := o.last()
		if len(last) < keptOutput-10 || len(last)%10 != 0 || !strings.HasSuffix(all.String(), last) {
			t.Errorf("%s: %d bytes, from %.12q", name, len(last), last)
		}
	}
}
