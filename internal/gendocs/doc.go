// Command gendocs writes what is generated from the program itself: shell
// completions, the command line reference as pages and as manual pages, the
// reference of the daemon's settings, the picture of the state machine and the
// index of the API. The same program always writes the same bytes: no dates, no
// versions, nothing of the machine it runs on. A file in one of its folders that
// it no longer writes is removed. Its test fails when a committed file is stale.
package main

//go:generate go -C ../.. run ./internal/gendocs
