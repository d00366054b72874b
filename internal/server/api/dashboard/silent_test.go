package dashboard_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// script runs a file of testdata with Node.js, with the script of the dashboard that the server sends.
func script(t *testing.T, file string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", "testdata/"+file, "static/app.js")
	cmd.Env = append(os.Environ(), "TZ=UTC")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("node runs the script of the dashboard; it comes with Node.js: %v: %s", err, out)
	}
	return string(out)
}

// TestSilentServer: a page says within 5 seconds that the server hangs, whose connection stays open,
// and since when what it shows is old. It connects again, and says when the server continues.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	said := script(t, "silent.mjs")
	for _, want := range []string{
		"0s live good aria-live=polite: live",
		"11s live bad aria-live=polite: no answer for 5s: what is shown is of 05:12:06",
		"12s live bad aria-live=off: no answer for 6s: what is shown is of 05:12:06", // not said again by a screen reader
		"31s live bad aria-live=off: no answer for 25s: what is shown is of 05:12:06",
		"32s live good aria-live=polite: live",
		"40s live bad aria-live=polite: no answer for 2s: what is shown is of 05:12:38", // a broken connection is known immediately
		"2 connections, the last one at http://server.example/-/events?cursor=7, 1 open",
	} {
		if !strings.Contains(said, want+"\n") {
			t.Errorf("not said: %s\n%s", want, said)
		}
	}
	if strings.Contains(said, "10s live bad") {
		t.Errorf("a server that was heard 4 seconds ago is away:\n%s", said)
	}
}
