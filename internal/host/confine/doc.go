// Package confine takes rights from a thread, and so from the programs that it starts: the
// worker host starts workerd on such a thread. A worker that breaks out of V8 then has no
// capability, finds no files but those that workerd needs, and cannot make the rarely used
// system calls. Linux only; what a kernel lacks is left out and reported.
package confine

// Profile is what a confined program needs. Paths are absolute; missing ones are left out.
type Profile struct {
	Program string   // the file that is executed
	Read    []string // files and directories
	Write   []string // directories to create and change files in, and to connect to sockets in
	Listen  bool     // at a TCP port that the kernel chooses
}

// Resolvers are sockets of the machine that resolve names for programs.
//
//nolint:gochecknoglobals // a constant table
var Resolvers = []string{"/var/run/nscd/socket", "/run/nscd/socket", "/run/systemd/resolve/io.systemd.Resolve"}

// Report is what a kernel could enforce.
type Report struct {
	Files       bool // Landlock: no file but those of the Profile, and no signal to other programs
	SystemCalls bool // seccomp
}

// Complete reports whether everything is enforced.
func (r Report) Complete() bool { return r.Files && r.SystemCalls }
