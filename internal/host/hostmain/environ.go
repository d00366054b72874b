package hostmain

import (
	"slices"
	"strings"
)

// workerdEnv is what of a host's environment is for workerd. Workers can read it,
// and a proxy's URL may hold a password: what is not named here stays with us.
func workerdEnv(environ []string) []string {
	var env []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if slices.Contains([]string{"PATH", "HOME", "TMPDIR"}, name) {
			env = append(env, entry)
		}
	}
	return env
}
