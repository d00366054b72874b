package kit

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Confirm asks the user to type a word before an irreversible operation. Without
// a terminal it returns a UsageError; instead is the flag that replaces the prompt.
func (k *Kit) Confirm(question, word, instead string) error {
	if !k.InTTY || !k.ErrTTY {
		return Usagef("%s: use %s when there is no terminal", question, instead)
	}
	_, _ = fmt.Fprintf(k.Err, "%s\ntype %s to continue: ", Clean(question), Clean(word)) // as Notef
	answer, err := bufio.NewReader(k.In).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the answer: %w", err)
	}
	if strings.TrimSpace(answer) != word {
		return Usagef("not confirmed; nothing was changed")
	}
	return nil
}
