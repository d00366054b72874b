// Package geoip finds the place of an address in MaxMind databases: GeoIP2, GeoLite2
// and others of their form (City, Country, ASN).
//
// Ownership: the daemon opens the databases at its start and keeps them open; a file that
// is replaced meanwhile is read at the next start. Concurrency: a DB may be used by many
// goroutines.
package geoip
