// Package archtest holds the import law: imports.txt says which packages of
// this module each package may import, and its test holds the code to it, in
// both directions.
package archtest
