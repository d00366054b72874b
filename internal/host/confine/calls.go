package confine

// Handlers handle calls of a program, which waits meanwhile. A nil one is for calls that are not
// reported.
type Handlers struct {
	// Open prepares the file at path, which the program is about to open and may create. After an
	// error its call fails with EIO. If the name could not be read from the memory of the program,
	// path is empty and unread says why.
	Open func(path string, unread error) error
	// Connect has the program send signals to no other one, and reports whether the program may connect to the Unix socket at path; an abstract name
	// begins with "@". After false its call fails with EPERM.
	Connect func(path string) bool
	// Unchecked is called, in place of Connect for sockets, if this process may not use the sockets of the
	// program: it then connects to any socket.
	Unchecked func(err error)
}
