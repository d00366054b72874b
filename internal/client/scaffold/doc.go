// Package scaffold writes new worker directories from templates that are part of the
// program.
//
// Package cli calls it, for svcctl init and svcctl types; package project reads what
// it writes.
package scaffold
