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
	// Binary says that the config is a message of Encode, which workerd reads from standard
	// input if Config is "-". It waits for the message before it starts V8.
	Binary bool
	// DebugAddress is where workerd takes calls of any service and entrypoint of its own,
	// those of the platform included: "unix:" and a path, which may be relative. "" for
	// nowhere.
	DebugAddress string
	// Inspect listens for debuggers, at a port of 127.0.0.1 that the control
	// messages name. (workerd starts no worker when the address is a unix socket.)
	Inspect bool
}

// Command is the argument vector, the binary first, that serves a rendered
// config. --experimental is always there because platform workers need it, so
// CheckCompat keeps experimental flags out of users' workers; -I / makes
// absolute Module.Path work; --verbose is explained in the package's text.
//
// Start it with Environ of an environment of its own: workers can see the one it gets.
func Command(binary string, o Options) []string {
	args := []string{binary, "serve", "--experimental", "--verbose", "-I", "/"}
	if o.ControlFD != 0 {
		args = append(args, "--control-fd", strconv.Itoa(o.ControlFD))
	}
	if o.Binary {
		args = append(args, "--binary")
	}
	if o.DebugAddress != "" {
		args = append(args, "--debug-port", o.DebugAddress)
	}
	if o.Inspect {
		args = append(args, "--inspector-addr", "127.0.0.1:0")
	}
	return append(args, o.Config)
}

// Environ is environ with the setting that workerd's allocator needs. The allocator uses a cache
// for each processor, instead of locks, only if the C library does not register restartable
// sequences itself. That saves 4 to 7 % of a request, and makes collections of garbage shorter.
func Environ(environ []string) []string {
	return append([]string{"GLIBC_TUNABLES=glibc.pthread.rseq=0"}, environ...)
}
