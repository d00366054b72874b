// Package cgroup gives child processes control groups of their own (cgroup v2): each has a
// limit of memory, and an equal share of the processors when they are busy.
//
// A process may make groups only below a group that was delegated to it, by Delegate= of a
// systemd unit or in a container that may write to its hierarchy. Processes and groups with
// controllers cannot be in the same group, so Open moves this process into a group below.
//
// Ownership: a Tree owns every group below its root whose name [Tree.New] could have given,
// and holds a lock on the root; groups that a killed process left are removed by Clear. A
// Group may be used by its maker and by the processes in it.
//
// Concurrency: all methods are safe for concurrent use. On systems other than Linux, Open
// always fails.
package cgroup
