package kit

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Confirm has a person type a word before something is done that cannot be
// undone. Off a terminal there is nobody to ask: instead names the flag that
// stands for the answer.
func (k *Kit) Confirm(question, word, instead string) error {
	if !k.InTTY || !k.ErrTTY {
		return Usagef("%s: without a terminal, say so with %s", question, instead)
	}
	_, _ = fmt.Fprintf(k.Err, "%s\ntype %s to go on: ", Clean(question), Clean(word)) // as Notef
	answer, err := bufio.NewReader(k.In).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the answer: %w", err)
	}
	if strings.TrimSpace(answer) != word {
		return Usagef("not confirmed: nothing was changed")
	}
	return nil
}
