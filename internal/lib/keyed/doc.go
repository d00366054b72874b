// Package keyed orders work per key, for example per version or per project.
//
// A [Mutex] has one lock per key. Its holder works with a context that
// [Mutex.Interrupt] can end. A [Flight] runs a function once for all callers
// that ask for the same key at the same time (singleflight); callers can leave
// without ending it, and [Flight.Cancel] ends it for all of them. Use
// golang.org/x/sync/singleflight where nothing has to be canceled. Services of
// the server import keyed; it imports only the standard library.
//
// The zero values are ready to use and must not be copied. Memory is held only
// for keys that are in use. All methods are safe for concurrent use.
package keyed
