package daemon

import (
	"context"
	"log/slog"
	"syscall"

	"github.com/svcctl/svcctl/internal/config"
)

const (
	// lowFileLimit is the hard limit of open files below which the daemon warns: each
	// connection to the gateway uses two descriptors, one here and one in workerd.
	lowFileLimit = 16384
	// reservedFiles is the number of descriptors that the gateway leaves for deploys,
	// data and logs, in addition to those for the connections of the API.
	reservedFiles = 1024
	// minConnections is the number of connections that the gateway accepts even if the
	// limit of open files is very low.
	minConnections = 64
)

// warnFileLimit logs a warning if the hard limit of open files is low.
func warnFileLimit(ctx context.Context, limit int, log *slog.Logger) {
	if limit < lowFileLimit {
		log.WarnContext(ctx, "the hard limit of open files is low; raise it with LimitNOFILE or ulimit -Hn",
			"limit", limit, "recommended", lowFileLimit)
	}
}

// fileLimit returns the hard limit of open files, to which Go raises the soft limit, or
// a large number if it is unknown.
func fileLimit() int {
	const unknown = 1 << 30
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return unknown
	}
	return int(min(limit.Max, unknown)) // at most unknown
}

// ClientLimits returns the limits of a process that serves visitors.
func ClientLimits(c config.Clients) config.Clients { return clientLimits(c, fileLimit()) }

// clientLimits fits the limits of connections into the limit of open files: each
// connection to the gateway uses two descriptors, and the rest stays for the API and
// deploys.
func clientLimits(c config.Clients, files int) config.Clients {
	c.API = min(c.API, max(files/16, minConnections))
	free := files - min(reservedFiles+c.API, files/2)
	c.Total = min(c.Total, max(free/2, minConnections))
	c.PerVersion = min(c.PerVersion, c.Total*3/4)
	return c
}
