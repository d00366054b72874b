// Package proc starts the processes that are compared, ends them, and reads
// their memory from /proc: it needs Linux.
package proc
