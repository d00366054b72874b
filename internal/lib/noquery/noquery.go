package noquery

import (
	"os"
	"slices"
	"strconv"
	"strings"
)

const variable = "TERM"

var term, isSet = os.LookupEnv(variable) //nolint:gochecknoglobals // read before main, restored by it

func init() { //nolint:gochecknoinits // the other packages ask in their own
	if isSet && !asks(os.Args) {
		_ = os.Setenv(variable, "dumb") // a valid name
	}
}

// asks reports whether a command line needs the answer of the terminal. The last --plain
// counts, in each form that the command accepts.
func asks(args []string) bool {
	const flag = "--plain"
	plain := false
	for _, arg := range args {
		if arg == flag {
			plain = true
		} else if value, ok := strings.CutPrefix(arg, flag+"="); ok {
			on, err := strconv.ParseBool(value)
			plain = on || err != nil
		}
	}
	return slices.Contains(args, "ui") && !plain
}

// Restore gives the environment its own TERM again.
func Restore() {
	if isSet {
		_ = os.Setenv(variable, term) // a valid name
	}
}
