// Package sagatest holds the tests that every saga.Journal must pass: that it
// reads back what was recorded, and that a run journaled in it ends all done or
// all undone wherever the process crashes. Tests of saga and of server/registry
// import it.
package sagatest
