// Command gendocs writes what is generated from the program itself: shell
// completions, the command line reference as pages and as manual pages, the
// reference of the daemon's settings and of the error codes, the words of other tools, the picture of the
// state machine, the index of the API, and the page of the contract's clauses
// and their tests. The same program always writes the same bytes: no dates, no
// versions, nothing of the machine it runs on. A file in one of its folders that
// it no longer writes is removed. Its test fails when a committed file is stale.
package main

//go:generate go -C ../.. run ./internal/gendocs
