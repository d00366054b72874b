// Package crashtest is what tests share that kill processes at random and verify
// what is left: how long they run, their dice, and what makes two databases equal.
package crashtest
