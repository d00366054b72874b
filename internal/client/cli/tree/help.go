package tree

import (
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
)

// helpWidth is how wide lines of help are at most, on a terminal that is wider, or without one.
const helpWidth = 120

// wrapHelp wraps the descriptions of commands at the width of the terminal.
func wrapHelp(k *kit.Kit, root *cobra.Command) {
	show := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		width := helpWidth
		if k.Columns > 0 {
			width = min(width, k.Columns)
		}
		long := cmd.Long
		cmd.Long = wrapped(long, width)
		show(cmd, args)
		cmd.Long = long
	})
}

// sourceWidth is how long a line of a description is at least that continues in the next one: its writer broke it for
// the width of the source.
const sourceWidth = 100

// wrapped breaks the paragraphs of a text that are longer than width between words. An indented line stays: it
// is an example or a part of a list.
func wrapped(text string, width int) string {
	lines := paragraphs(strings.Split(text, "\n"))
	for i, line := range lines {
		if utf8.RuneCountInString(line) > width && !strings.HasPrefix(line, " ") {
			lines[i] = strings.Join(fill(strings.Fields(line), width), "\n")
		}
	}
	return strings.Join(lines, "\n")
}

// paragraphs joins each line that continues with the next one.
func paragraphs(lines []string) (joined []string) {
	continues := false
	for _, line := range lines {
		prose := line != "" && !strings.HasPrefix(line, " ")
		if continues && prose {
			joined[len(joined)-1] += " " + line
		} else {
			joined = append(joined, line)
		}
		continues = prose && utf8.RuneCountInString(line) > sourceWidth
	}
	return joined
}

// fill puts words into lines of at most width characters.
func fill(words []string, width int) (lines []string) {
	for _, word := range words {
		last := len(lines) - 1
		if last < 0 || utf8.RuneCountInString(lines[last])+1+utf8.RuneCountInString(word) > width {
			lines = append(lines, word)
			continue
		}
		lines[last] += " " + word
	}
	return lines
}
