// Package http1 is the strict HTTP/1.1 grammar of the gateway: message heads
// and chunked bodies, read in place from byte slices.
//
// The grammar is strict because two programs that parse one byte stream
// differently can see different requests in it (request smuggling). What RFC 9112
// calls invalid or obsolete is refused instead of repaired: a line that ends in a
// bare LF, a folded header line, a space before the colon, a control byte in a
// value, Content-Length together with Transfer-Encoding, two Content-Lengths, a
// transfer coding other than "chunked", a missing or second Host, a port that is no number.
//
// The package does no I/O, starts no goroutine and keeps no reference to its
// arguments, except that parsed values alias the caller's buffer and are valid until
// its bytes change. Values are not safe for concurrent use.
package http1
