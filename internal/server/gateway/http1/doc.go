// Package http1 is the strict HTTP/1.1 grammar of the gateway: message heads
// and chunked bodies, read in place from byte slices.
//
// Strictness is the point. Two programs that read one byte stream differently
// can be made to see different requests in it, so whatever RFC 9112 calls
// invalid or obsolete is refused instead of repaired: a line that ends in a
// bare LF, a folded header line, a space before the colon, a control byte in a
// value, Content-Length together with Transfer-Encoding, two Content-Lengths,
// a transfer coding other than "chunked", a missing or second Host.
//
// Nothing here does I/O, starts a goroutine or keeps what it was given: parsed
// values alias the caller's buffer and are valid for as long as its bytes are.
// Values are not safe for concurrent use.
package http1
