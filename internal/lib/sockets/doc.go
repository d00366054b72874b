// Package sockets passes listening sockets to a process: from a service manager that
// holds them (systemd's LISTEN_FDS), and from a process to the program that replaces it
// under the same process id. Connections that arrive while no process accepts wait in
// the kernel's queue.
package sockets
