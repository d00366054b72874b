// Package suggest finds the word that was probably meant in place of a mistyped one.
//
// The command line, the project file and calls of services use it.
package suggest
