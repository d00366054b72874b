package kit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Confirm asks the user to type a word before an irreversible operation. Without
// a terminal it returns a UsageError; instead is the flag that replaces the prompt.
// The end of ctx ends the prompt.
func (k *Kit) Confirm(ctx context.Context, question, word, instead string) error {
	if !k.InTTY || !k.ErrTTY {
		return Usagef("%s: use %s when there is no terminal", question, instead)
	}
	_, _ = fmt.Fprintf(k.Err, "%s\ntype %s to continue: ", Clean(question), Clean(word)) // as Notef
	answer, err := k.line(ctx)
	if ctx.Err() != nil {
		k.Notef("")
		return fmt.Errorf("interrupted; nothing was changed: %w", ctx.Err())
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the answer: %w", err)
	}
	if strings.TrimSpace(answer) != word {
		return Usagef("not confirmed; nothing was changed")
	}
	return nil
}

// line reads a line of standard input, or ends with ctx. A read of a terminal cannot
// be cancelled: its goroutine ends with the process.
func (k *Kit) line(ctx context.Context) (string, error) {
	type result struct {
		text string
		err  error
	}
	read := make(chan result, 1)
	go func() {
		text, err := bufio.NewReader(k.In).ReadString('\n')
		read <- result{text, err}
	}()
	select {
	case r := <-read:
		return r.text, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// Hidden asks for a secret on the terminal and does not show what is typed. Without a
// terminal it returns a UsageError.
func (k *Kit) Hidden(ctx context.Context, question string) (string, error) {
	file, ok := k.In.(*os.File)
	if !k.InTTY || !k.ErrTTY || !ok {
		return "", Usagef("no terminal to prompt for a token: use --token-stdin")
	}
	state, err := term.GetState(int(file.Fd()))
	if err != nil {
		return "", fmt.Errorf("reading from the terminal: %w", err)
	}
	_, _ = fmt.Fprint(k.Err, Clean(question)) // as Notef
	type result struct {
		text []byte
		err  error
	}
	read := make(chan result, 1)
	go func() { // it ends with the process if ctx ends first
		text, err := term.ReadPassword(int(file.Fd()))
		read <- result{text, err}
	}()
	select {
	case r := <-read:
		k.Notef("")
		if r.err != nil {
			return "", fmt.Errorf("reading from the terminal: %w", r.err)
		}
		return string(r.text), nil
	case <-ctx.Done():
		k.Notef("")
		return "", errors.Join(fmt.Errorf("interrupted; nothing was changed: %w", ctx.Err()), term.Restore(int(file.Fd()), state))
	}
}
