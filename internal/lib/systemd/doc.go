// Package systemd speaks with the service manager that started this process. A Manager tells it what
// state the process is in (Type=notify); without a manager every call does nothing. A Set has the
// listening sockets that it holds (LISTEN_FDS), and Kept passes sockets from a process to the program
// that replaces it under the same process id. Connections that arrive while no process accepts wait in
// the kernel's queue.
//
// Package serve of program calls it, and the daemon takes its sockets from it.
package systemd
