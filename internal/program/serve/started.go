package serve

import (
	"log/slog"

	"github.com/svcctl/svcctl/internal/lib/buildinfo"
	"github.com/svcctl/svcctl/internal/server/daemon"
	"github.com/svcctl/svcctl/internal/svc"
)

// started describes a server for its log: the build, its addresses and the settings that
// were given. The values of secrets are not in it.
func started(i daemon.Info, settings []svc.SettingValue) []slog.Attr {
	build := buildinfo.Read()
	attrs := []slog.Attr{
		slog.String("version", build.Version), slog.String("commit", build.Commit),
		slog.String("api", i.API), slog.String("gateway", i.GatewayListens), slog.String("base_domain", i.BaseDomain),
	}
	for _, a := range []slog.Attr{slog.String("https", i.HTTPS), slog.String("http", i.HTTP), slog.String("s3", i.S3)} {
		if a.Value.String() != "" {
			attrs = append(attrs, a)
		}
	}
	given := []any{}
	for _, s := range settings {
		if s.Source != "default" {
			given = append(given, slog.String(s.Name, s.Value))
		}
	}
	return append(attrs, slog.String("data_dir", i.DataDir), slog.Group("settings", given...))
}
