// Package deployqueuetest holds the tests that every deployqueue.Store must pass,
// and a store in memory for tests of code that runs jobs.
package deployqueuetest
