// Package simulate runs the real code of the data wing, SQLite included, in the virtual time of a
// synctest bubble, over an object store whose every request waits until a seed decides what becomes
// of it. An oracle knows which writes were acknowledged and compares that with what later processes
// and forks read. docs/design/proof.md says what it promises and how to read a seed that fails.
//
// Its tests need the build tag simulate and the build overlay of the package overlay: make simulate.
//
// A seed makes a list of decisions; the run reads it. world_test.go has the state of a run,
// events_test.go what a decision may be, store_test.go and fate_test.go the object store,
// process_test.go processes and their deaths, client_test.go reads and writes, oracle_test.go and
// oracle_fork_test.go what must hold, end_test.go the end of a run, shrink_test.go the search for
// the fewest decisions that still violate a rule.
package simulate
