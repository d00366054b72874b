package workerd

import "strconv"

// Options are what the command line says beside the config.
type Options struct {
	// Config is the path of the rendered config: a file, or /dev/fd/N of an
	// inherited file that has no name. A pipe is refused by workerd.
	Config string
	// ControlFD is the inherited descriptor to report on, for ReadEvents; 0
	// for none.
	ControlFD int
}

// Command is the argument vector, the binary first, that serves a rendered
// config. --experimental is always there because platform workers need it, so
// CheckCompat keeps experimental flags out of users' workers; -I / makes
// absolute Module.Path work; --verbose is explained in the package's text.
//
// Start it with an environment of its own: workers can see the one it gets.
func Command(binary string, o Options) []string {
	args := []string{binary, "serve", "--experimental", "--verbose", "-I", "/"}
	if o.ControlFD != 0 {
		args = append(args, "--control-fd", strconv.Itoa(o.ControlFD))
	}
	return append(args, o.Config)
}
