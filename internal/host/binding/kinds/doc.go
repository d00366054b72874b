// Package kinds names the binding kinds, for the parts of the program that do not
// run them: the client, which writes them into bundles. binding/all has the kinds
// themselves; a test there holds the two lists together.
package kinds
