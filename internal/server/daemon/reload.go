package daemon

import (
	"context"

	"github.com/svcctl/svcctl/internal/config"
)

// Reload applies the settings that may change while the daemon runs: the trusted proxies,
// for new connections, and the keys of secrets. The file of named tokens is read again whenever it changes. Failed
// orders of certificates need no pause any more. Reload logs which other settings differ and need a restart.
func (d *Daemon) Reload(ctx context.Context, cfg *config.Daemon) {
	d.gateway.SetTrustedProxies(cfg.TrustedProxies, cfg.TrustedProxies != nil)
	d.proxies.Set(cfg.TrustedProxies)
	d.sealed.SetKeys(cfg.SecretsKey)
	if d.orders != nil {
		d.orders.Retry()
	}
	if d.accessLog != nil {
		if err := d.accessLog.Reopen(); err != nil {
			d.logger.ErrorContext(ctx, "reopening the access log failed; it continues in the old file", "error", err)
		}
	}
	d.logger.InfoContext(ctx, "settings reloaded", "need_restart", needRestart(d.cfg, cfg))
}

// needRestart names the settings that differ and that Reload does not apply. It does not
// compare secrets.
func needRestart(before, after *config.Daemon) []string {
	names := []string{}
	for i, s := range after.InEffect {
		live := s.Name == "SVC_TRUSTED_PROXIES" || s.Name == "SVC_LOG_LEVEL"
		if !live && s.Value != before.InEffect[i].Value {
			names = append(names, s.Name)
		}
	}
	return names
}
