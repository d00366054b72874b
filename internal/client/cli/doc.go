// Package cli is the command tree of svcctl: one file per noun or verb. A
// command is an options struct, a function that makes the cobra command, and a
// function that does the work and knows nothing of cobra.
package cli
