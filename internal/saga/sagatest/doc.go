// Package sagatest holds the tests that every saga.Journal must pass: that it
// reads back what was recorded, and that a run journalled in it ends all done
// or all undone although the process dies at any moment.
package sagatest
