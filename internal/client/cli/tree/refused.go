package tree

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
)

// Refused is the error of a command line that cobra refused.
func Refused(cmd *cobra.Command, err error) error {
	return kit.Usagef("%s\nsee: %s --help", refusal(cmd, err), cmd.CommandPath())
}

// short is cobra's suggestion for a word of one or two letters, which is near every other short word.
var short = regexp.MustCompile(`(?s)^(unknown command "[^"]{1,2}" for "[^"]*")\n\nDid you mean.*$`)

// counts is in cobra's refusals of a number of arguments: "accepts 1 arg(s), received 2".
var counts = regexp.MustCompile(`(\d+) arg\(s\), (?:only )?received (\d+)`)

// refusal is cobra's refusal of a command line, with the form of the command in place of numbers
// of arguments.
func refusal(cmd *cobra.Command, err error) string {
	text := short.ReplaceAllString(strings.TrimSpace(err.Error()), "$1")
	if arg, ok := unexpected(cmd, text); ok {
		return arg
	}
	m := counts.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	what := "too many arguments"
	wanted, _ := strconv.Atoi(m[1]) // the pattern has digits only
	if received, _ := strconv.Atoi(m[2]); received < wanted || strings.HasPrefix(text, "requires") {
		what = "missing argument"
	}
	return what + ": " + strings.TrimSuffix(cmd.UseLine(), " [flags]")
}

// noArgs is cobra's refusal of an argument by a command that takes none.
var noArgs = regexp.MustCompile(`^unknown command ("[^"]*") for `)

// unexpected is the refusal of an argument by a command that takes none and has no verbs,
// which cobra calls an unknown command.
func unexpected(cmd *cobra.Command, text string) (refusal string, ok bool) {
	m := noArgs.FindStringSubmatch(text)
	if m == nil || cmd.HasSubCommands() {
		return "", false
	}
	refusal = fmt.Sprintf("unexpected argument %s: %s takes none", m[1], cmd.CommandPath())
	if cmd.Flags().Lookup("project") != nil {
		refusal += "; name a project with --project"
	}
	return refusal, true
}
