// Package noquery keeps the packages of the terminal interface from asking the terminal for
// its background color while the program starts. They ask in their initialization, in every
// command, and wait five seconds for a terminal that does not answer; what a user types
// meanwhile is lost. Only the command ui needs the answer.
//
// The package is initialized before them because it imports nothing but os and slices, and
// tells them that the terminal is dumb. The main function calls Restore before anything else.
package noquery

import (
	"os"
	"slices"
)

const variable = "TERM"

var term, isSet = os.LookupEnv(variable) //nolint:gochecknoglobals // read before main, restored by it

func init() { //nolint:gochecknoinits // the other packages ask in their own
	if isSet && !slices.Contains(os.Args, "ui") {
		_ = os.Setenv(variable, "dumb") // a valid name
	}
}

// Restore gives the environment its own TERM again.
func Restore() {
	if isSet {
		_ = os.Setenv(variable, term) // a valid name
	}
}
