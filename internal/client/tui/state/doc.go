// Package state is what the terminal interface knows of a server: the answers of the
// API that screens asked for, kept up to date by events.
//
// A [Need] names an answer. Screens say which ones they need; package remote loads
// them and sends a [Loaded]; the frame puts it into the [State]. Events change what is
// loaded and say which records to read again. Nothing here does I/O, and a State
// belongs to one goroutine.
package state
