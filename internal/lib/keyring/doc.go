// Package keyring seals texts with one of several keys, so that a key can be replaced while texts
// that an earlier one sealed still open.
//
// No error and no String of the package holds a key or a text. A [Ring] is immutable and safe for
// concurrent use.
package keyring
