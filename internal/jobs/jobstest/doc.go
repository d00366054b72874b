// Package jobstest holds the tests that every jobs.Store must pass, and a
// store in memory for tests of code that works jobs off.
package jobstest
