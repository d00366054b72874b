// Package acme obtains certificates from an authority when visitors ask for a host for the
// first time, and renews them when visitors come back.
//
// A [Manager] answers handshakes. Before anything else it asks whether the host may have a
// certificate, which is a look into a table in memory: a stranger who asks for random names
// causes no request, neither to the authority nor to the object store. An allowed host whose
// certificate is neither in memory nor in the object store is ordered; all handshakes of that
// host wait for the one order. Orders continue when the visitor leaves.
//
// With a service that changes the DNS ([DNS]), the hosts below the base domain share wildcard
// certificates, one for each parent. Their orders run one by one, and the authority connects
// to no port of the server.
//
// A failed order is repeated at the next handshake after a pause that doubles, so that the
// limits of the authority are kept: five failures for a host and hour.
//
// Certificates, their keys and the account are in the object store below [Prefix], encrypted
// with a key that is derived from the recovery key. Servers with the same recovery key and
// object store share them: they take turns by a lock per host, and each answers the
// authority's challenges to the others.
package acme
