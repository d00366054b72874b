// Package reap runs a program under the first process of a container. The kernel makes
// that process the parent of each process whose own parent has ended, and keeps such a
// process as a zombie until its parent has waited for it.
package reap
