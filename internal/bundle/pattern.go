package bundle

import (
	"regexp"
	"sync"
)

// pattern returns a regular expression that is compiled when it is first used: every worker
// host has all of them and uses few.
func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
