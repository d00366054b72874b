package daemon

import (
	"context"
	"log/slog"
	"syscall"
)

// lowFileLimit is the hard limit of open files below which the daemon warns: each
// connection to the gateway uses two descriptors, one here and one in workerd.
const lowFileLimit = 16384

// warnFileLimit logs a warning if the hard limit of open files is low.
func warnFileLimit(ctx context.Context, log *slog.Logger) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Max >= lowFileLimit {
		return
	}
	log.WarnContext(ctx, "the hard limit of open files is low; raise it with LimitNOFILE or ulimit -Hn",
		"limit", limit.Max, "recommended", lowFileLimit)
}
