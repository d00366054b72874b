package dev

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
)

// askRewind lists the saves and waits for the choice of one.
func (w *worker) askRewind() {
	if w.state.current() == nil {
		w.out.note("no version serves yet")
		return
	}
	var list strings.Builder
	for i, save := range w.state.Saves {
		mark := " "
		if i == len(w.state.Saves)-1 {
			mark = "*"
		}
		fmt.Fprintf(&list, "%s %4d  %s  %s\n", mark, save.N, save.At.Format("2 Jan 15:04:05"), cmp.Or(names(save.Changed), "first build"))
	}
	w.ask(list.String()+"go back to save (NUMBER: code and data, NUMBER d: data alone, Esc: stay): ", w.rewind)
}

// rewind goes back to a save: "12" its code and data, "12 d" its data with the code
// that serves. The files stay; the next save builds them.
func (w *worker) rewind(ctx context.Context, answer string) error {
	number, dataAlone := strings.CutSuffix(strings.TrimSpace(answer), "d")
	n, err := strconv.Atoi(strings.TrimSpace(number))
	if err != nil {
		w.out.note("%q is not the number of a save", strings.TrimSpace(answer))
		return nil //nolint:nilerr // the note has told the user
	}
	for _, save := range w.state.Saves {
		switch {
		case save.N != n:
		case dataAlone:
			return w.again(ctx, *w.state.current(), save, fmt.Sprintf("data of save %d", n))
		default:
			return w.again(ctx, save, save, fmt.Sprintf("back to save %d", n))
		}
	}
	w.out.note("save %d is not in the list", n)
	return nil
}
