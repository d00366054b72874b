// Package ask has the questions before actions, which several screens ask in the same
// words.
package ask
