// Package tree has the manners of every command line of ours: a root that prints each error once,
// refuses wrong command lines with the form of the command, wraps help at the width of the terminal,
// and says which build it is. It knows cobra and kit alone.
package tree
