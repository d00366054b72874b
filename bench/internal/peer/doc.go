// Package peer runs what this project is compared with: bare workerd, miniflare,
// and reverse proxies in front of a worker. Each is configured as its own
// documentation advises for speed: kept connections, no access log.
package peer
