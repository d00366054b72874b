package dev

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// printKeys is a program that prints the keys that it reads, and starts other programs all the time, as
// a server does.
func printKeys(ctx context.Context, _ []string) error {
	_ = exec.CommandContext(ctx, "true").Run() // the first one of a program probes the kernel, without syscall.ForkLock
	t := openTerminal(os.Stdin)
	if t == nil {
		return errors.New("no terminal")
	}
	defer t.close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for range 2 {
		go func() {
			for ctx.Err() == nil {
				_ = exec.CommandContext(ctx, "true").Run() // the program does not matter
			}
		}()
	}
	fmt.Println("open")
	for r := range t.keys {
		fmt.Printf("key %q\n", r)
		if r == 'q' {
			break
		}
	}
	return nil
}

// Esc is a key also if another one comes with it; arrows and other keys of several bytes are none.
func TestKeysOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"q": "q", "\x1bq": "\x1bq", "\x1b": "\x1b", "\x1b\x1b": "\x1b\x1b", "12\x1br": "12\x1br", "ä\x1bö": "ä\x1bö",
		"\x1b[Aq": "q", "\x1b[1;5Cq": "q", "\x1bOPq": "q", "a\x1b[200~b": "ab", "\x1b[": "", "\x1bO": "", "\x1b[Z\x1b[Z": "", "\x1b\x1b[Ax": "\x1bx",
	} {
		if got := string(keysOf([]byte(text))); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
