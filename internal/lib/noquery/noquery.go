package noquery

import (
	"os"
	"slices"
)

const variable = "TERM"

var term, isSet = os.LookupEnv(variable) //nolint:gochecknoglobals // read before main, restored by it

func init() { //nolint:gochecknoinits // the other packages ask in their own
	if isSet && (!slices.Contains(os.Args, "ui") || slices.Contains(os.Args, "--plain")) {
		_ = os.Setenv(variable, "dumb") // a valid name
	}
}

// Restore gives the environment its own TERM again.
func Restore() {
	if isSet {
		_ = os.Setenv(variable, term) // a valid name
	}
}
