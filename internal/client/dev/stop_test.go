package dev

import (
	"context"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// A second signal ends the end of a session, unless it came with the first.
func TestForce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		signals := make(chan os.Signal)
		go force(ctx, signals, cancel)
		signals <- syscall.SIGINT
		synctest.Wait()
		if ctx.Err() != nil {
			t.Error("one Ctrl-C that arrives twice counts as two")
		}
		time.Sleep(together)
		signals <- syscall.SIGINT
		synctest.Wait()
		if cause := context.Cause(ctx); cause == nil || cause.Error() != "interrupt signal received" {
			t.Errorf("a second Ctrl-C: %v", cause)
		}
	})
}

// Colors and control characters of a worker's text do not reach the terminal.
func TestClean(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"--> GET / \x1b[33m404\x1b[0m 1ms": "--> GET / 404 1ms", "\x1b[1;31mred": "red", "a\x1b]0;title\x07b": "a]0;titleb", "[33m": "[33m",
	} {
		if got := clean(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
