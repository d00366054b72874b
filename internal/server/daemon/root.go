package daemon

import (
	"context"
	"log/slog"

	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/svc"
)

// checkRoot rejects a daemon of root that is reachable from outside and cannot confine workerd
// to files: a worker that breaks out would own the machine (ADR 12). On loopback only,
// or where it can, a daemon of root gets a warning or nothing. A workerd with a user
// of its own has no rights of root.
func checkRoot(ctx context.Context, cfg *config.Daemon, uid int, confines bool, log *slog.Logger) error {
	switch {
	case uid != 0 || cfg.Isolates || confines && cfg.OnLoopback():
		return nil
	case !confines && !cfg.AllowRoot && !cfg.OnLoopback():
		return svc.Errorf(svc.Conflict, svc.CodeRootRefused, "the server runs as root at %s, and this kernel cannot confine workerd to files", cfg.ListenHost).
			WithHint("run it as a user of its own, or set SVC_ALLOW_ROOT=1")
	}
	log.WarnContext(ctx, "the server runs as root; run it as a user of its own where strangers deploy", "confines_workerd", confines)
	return nil
}
