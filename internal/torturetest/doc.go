// Package torturetest is what the torture tests of several packages share: how long
// they go on, an object store that can be killed and fails on the way, and what
// makes two databases the same. It is linked by tests only.
package torturetest
