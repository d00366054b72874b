package tui

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/client"
)

const leftAltScreen = "\x1b[?1049l"

// terminalOf returns what Run needs of a terminal, and the person's side of it.
func terminalOf(t *testing.T) (c Config, keys io.Writer, out *svctest.Buffer) {
	t.Helper()
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	api, err := client.New(server.URL, client.Tokens{Admin: "token"}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	in, person := io.Pipe()
	t.Cleanup(func() { _ = person.Close() })
	out = &svctest.Buffer{}
	return Config{Client: api, Contexts: []string{"other"}, In: in, Out: out}, person, out
}

// TestPanicLeavesTheTerminal: after a panic the terminal is as it was before.
func TestPanicLeavesTheTerminal(t *testing.T) {
	t.Parallel()
	c, keys, out := terminalOf(t)
	c.Connect = func(string) (*client.Client, error) { panic("a bug") }
	ended := make(chan error, 1)
	go func() { ended <- Run(t.Context(), c) }()
	if _, err := io.WriteString(keys, ":ctx other\r"); err != nil {
		t.Fatal(err)
	}
	if err := svctest.Wait(t, "the end of the interface", ended); err == nil {
		t.Error("the panic is not reported")
	}
	if !strings.Contains(out.String(), leftAltScreen) {
		t.Errorf("the screen stays: %q", out)
	}
}

// TestSignalLeavesTheTerminal: the end of the context, by a signal, ends the interface.
func TestSignalLeavesTheTerminal(t *testing.T) {
	t.Parallel()
	c, _, out := terminalOf(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, c) }()
	svctest.Eventually(t, "the interface is drawn", func() bool { return strings.Contains(out.String(), "pulse") })
	stop()
	if err := svctest.Wait(t, "the end of the interface", ended); err != nil {
		t.Error(err)
	}
	if !strings.Contains(out.String(), leftAltScreen) {
		t.Errorf("the screen stays: %q", out)
	}
}
