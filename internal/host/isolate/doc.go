// Package isolate gives a workerd a uid that no other process of the machine has, with the gid of
// the same number. The ordinary permission checks of the kernel then keep native code in workerd from
// files, sockets and processes of other versions and of the server, also where Landlock and seccomp
// are missing.
//
// A uid belongs to a process, not to a version. Take locks it in a file that all servers of the
// machine share. The lock ends with the worker host, however that ends; a process of workerd may
// live a moment longer, or as long as it wants if it has left the process group. So a uid that was
// used before is given again only when no process has it.
//
// Files that workerd must write are given to its uid (Give) and taken back when it has ended
// (TakeBack). A run that was killed is made up for when the files are opened next.
//
// Linux only: elsewhere Check returns an error. Concurrency: everything is safe for concurrent use
// by several processes.
package isolate
