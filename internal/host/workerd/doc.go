// Package workerd speaks workerd's language: the config model and its text
// form, the command line, the messages of the control pipe, the words of its
// logs and start-up errors, and the compatibility dates and flags it knows. It
// starts no process and opens no file. All of it is for the one binary that
// Version names; the truth behind it is that binary's workerd.capnp.
//
// # Logs
//
// Console output and exceptions are kept without a tail worker, which would
// halve the throughput. Render turns structured logging on and Command passes
// --verbose, which costs a request that succeeds nothing (33 µs of CPU with it
// and without). It makes workerd print a line with the JavaScript stack for an
// uncaught exception in a handler, in waitUntil work, in a timer or in an event
// listener. One exception has up to three lines; ReadLog makes one
// LogLine of them and drops what is only of interest to workerd's authors.
// stdout must be read all the time: workerd writes it synchronously and stops
// serving when the pipe is full.
//
// An unhandled rejection is printed nowhere, whatever the flags. RejectionHook,
// appended to the main module, sends it to the console; it too runs only when
// there is one.
//
// After a start that fails, the reason is on stderr, except that running out of
// heap is reported on stdout: give Explain both.
//
// Everything here is safe for concurrent use, except a LogParser.
package workerd

// Version is the npm version of the pinned binary.
const Version = "1.20261117.1"

// VersionLine is what that binary prints for --version.
const VersionLine = "workerd 2026-11-17"

// RejectionHook is JavaScript to append to a worker's main module so that
// unhandled rejections reach its log. It begins with a line break and leaves the
// line numbers before it unchanged.
const RejectionHook = "\n;globalThis.addEventListener(\"unhandledrejection\"," +
	"(e)=>console.error(\"Unhandled rejection:\",e.reason));\n"
