// Package pick lets a person choose one of a list on a terminal.
//
// [Model] is a model of bubbletea: Update takes a message, View draws. [Run] runs it on a
// terminal, below what is there, and removes it at the end. Safe for use by one goroutine.
package pick
