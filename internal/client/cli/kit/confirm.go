package kit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"
)

// errAsked ends a prompt that Ctrl-C ended.
var errAsked error = &InterruptedError{"interrupted; nothing was changed"}

// Confirm asks the user to type a word before an irreversible operation. Without a person to
// answer it returns a UsageError; instead is the flag that replaces the prompt.
// The end of ctx ends the prompt.
func (k *Kit) Confirm(ctx context.Context, question, word, instead string) error {
	if !k.CanAsk() {
		return Usagef("%s: use %s %s", question, instead, k.whyNot())
	}
	_, err := k.ask(ctx, fmt.Sprintf("%s\ntype %s to continue: ", question, word), word)
	return err
}

// Choose asks the user to type one of some words. Without a person to answer it returns a UsageError;
// instead names the flags that replace the prompt.
func (k *Kit) Choose(ctx context.Context, question string, words []string, instead string) (string, error) {
	if !k.CanAsk() {
		return "", Usagef("%s: use %s %s", strings.TrimSuffix(question, "?"), instead, k.whyNot())
	}
	return k.ask(ctx, fmt.Sprintf("%s\ntype %s: ", question, strings.Join(words, " or ")), words...)
}

// CanAsk reports whether there is a person to ask: on a terminal, which jobs of CI may have, too.
func (k *Kit) CanAsk() bool { return k.InTTY && k.ErrTTY && !k.inCI() }

func (k *Kit) inCI() bool {
	c, err := k.Config()
	return err == nil && c.CI
}

// whyNot says why there is no person to ask.
func (k *Kit) whyNot() string {
	if k.InTTY && k.ErrTTY {
		return "where the variable CI is set"
	}
	return "when there is no terminal"
}

// ask prints a question and returns the answer, which must be one of the words.
func (k *Kit) ask(ctx context.Context, question string, words ...string) (string, error) {
	_, _ = fmt.Fprint(k.Err, Clean(question)) // as Notef
	answer, err := k.line(ctx)
	if ctx.Err() != nil {
		k.Notef("")
		return "", errAsked
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("reading the answer: %w", err)
	}
	if answer = strings.TrimSpace(answer); !slices.Contains(words, answer) {
		return "", Usagef("not confirmed; nothing was changed")
	}
	return answer, nil
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
		text, err := oneLine(k.In)
		read <- result{text, err}
	}()
	select {
	case r := <-read:
		return r.text, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// oneLine reads a line and nothing after it, which may be the next answer.
func oneLine(r io.Reader) (string, error) {
	var line []byte
	for b := make([]byte, 1); ; {
		if _, err := io.ReadFull(r, b); err != nil || b[0] == '\n' {
			return string(line), err
		}
		line = append(line, b[0])
	}
}

// Hidden asks for a secret on the terminal and does not show what is typed. Without a person to
// answer it returns a UsageError.
func (k *Kit) Hidden(ctx context.Context, question string) (string, error) {
	file, ok := k.In.(*os.File)
	switch {
	case !k.InTTY || !k.ErrTTY || !ok:
		return "", Usagef("no terminal to prompt for a token: use --token-stdin")
	case !k.CanAsk():
		return "", Usagef("no prompt for a token %s: use --token-stdin", k.whyNot())
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
		return "", errors.Join(errAsked, term.Restore(int(file.Fd()), state))
	}
}
