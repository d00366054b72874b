// Package whole has the words and flags of the commands that only the whole program runs: they need the
// server's code, or the files of a server on this machine. What they do is in Runs. So the light program
// (cmd/svcctl-client) has the same help, completions and man pages, and hands the command line over.
package whole
