// Package front serves the one stable address of watch mode. It passes requests on to
// the version of the moment, and switches from version to version without failing or
// misdirecting one: [Front.Hold] makes new requests wait, [Front.Drain] waits for
// those in flight, [Front.Switch] names the next version, and [Front.Release] lets
// the waiting requests go there.
//
// While a [Problem] is set, pages (text/html) show it at their top, and the version of
// the last good build still answers; without such a version the problem is the answer.
// Below /cdn-cgi/svcctl/ the front answers itself: the events of live reload.
package front
