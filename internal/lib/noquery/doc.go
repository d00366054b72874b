// Package noquery keeps the packages of the terminal interface from asking the terminal for
// its background color while the program starts. They ask in their initialization, in every
// command, and wait five seconds for a terminal that does not answer; what a user types
// meanwhile is lost. Only the command ui needs the answer, and it does not with --plain.
//
// The package is initialized before them because it imports nothing but os and slices, and
// tells them that the terminal is dumb. The main function calls Restore before anything else.
package noquery
