package serve

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/lib/notify"
	"github.com/svcctl/svcctl/internal/server/daemon"
	"github.com/svcctl/svcctl/internal/server/edge"
	"github.com/svcctl/svcctl/internal/server/gateway"
	"github.com/svcctl/svcctl/internal/server/geoip"
	"github.com/svcctl/svcctl/internal/svc"
)

// gatewayFlags are the flags of svcd gateway.
type gatewayFlags struct{ control, tokenFile, caFile, listen, status, name string }

// NewGateway runs a gateway on another machine than the server.
func NewGateway(k *kit.Kit) *cobra.Command {
	var f gatewayFlags
	cmd := &cobra.Command{
		Use: "gateway", Short: "Run a gateway on another machine than the server", Args: cobra.NoArgs,
		Long: "Serves visitors with the routes of a server (SVC_GATEWAYS_LISTEN there), and sends their requests to its versions.\n" +
			"Without the server the last routes stay in place. /ready and /metrics are at the address of --status.\n" +
			"Settings of a server that concern visitors are valid here too, as environment variables: SVC_TRUSTED_PROXIES,\n" +
			"SVC_GATEWAY_ENGINE, SVC_COMPRESSION, SVC_GEOIP_DB, GATEWAY_URL, SVC_CLIENT_TIMEOUT, SVC_MAX_CONNECTIONS and the like, SVC_LOG_LEVEL.",
		RunE: func(cmd *cobra.Command, _ []string) error { return runGateway(cmd.Context(), k, f) },
	}
	cmd.Flags().StringVar(&f.control, "control", "", "URL of the server's port for gateways, such as https://10.0.0.1:8791")
	cmd.Flags().StringVar(&f.tokenFile, "token-file", "", "file with a token that has the role gateway")
	cmd.Flags().StringVar(&f.caFile, "ca-file", "", "file of authorities for the server's certificate, PEM (default: those of the system)")
	cmd.Flags().StringVar(&f.listen, "listen", "127.0.0.1:8787", "address for visitors, host:port")
	cmd.Flags().StringVar(&f.status, "status", "127.0.0.1:8792", "address of /ready and /metrics, host:port; off for none")
	cmd.Flags().StringVar(&f.name, "name", "", "name in lists (default: the name of this machine)")
	for _, name := range []string{"control", "token-file"} {
		_ = cmd.MarkFlagRequired(name) // they exist
	}
	return cmd
}

func runGateway(ctx context.Context, k *kit.Kit, f gatewayFlags) error {
	settings, err := config.LoadGateway(k.Environ)
	if err != nil {
		return kit.Usagef("%v", err)
	}
	level := &slog.LevelVar{}
	level.Set(settings.LogLevel)
	c, err := f.config(settings, newLogger(ctx, k, settings, level))
	if err != nil {
		return err
	}
	e, err := edge.Start(ctx, c)
	if err != nil {
		return err
	}
	visitors, status := e.Addr()
	k.Printf("gateway    http://%s   routes of %s", visitors, c.Control)
	k.Printf("status     %s", cmp.Or(status, "off"))
	manager := notify.New(k.Environ, os.Getpid())
	manager.Ready()
	select {
	case <-ctx.Done():
		k.Notef("shutting down; send the signal again to exit immediately")
		err = nil
	case err = <-e.Failed():
	}
	manager.Tell("STOPPING=1")
	polite, cancel := patience(ctx)
	defer cancel()
	return errors.Join(err, e.Stop(polite))
}

// config reads the files that the flags name.
func (f *gatewayFlags) config(s *config.Daemon, logger *slog.Logger) (c edge.Config, err error) {
	c = edge.Config{Listen: f.listen, Status: f.status, Name: f.name, Logger: logger}
	if c.Control, err = url.Parse(f.control); err != nil || c.Control.Host == "" || c.Control.Scheme != "http" && c.Control.Scheme != "https" {
		return c, kit.Usagef("--control %s: want a URL such as https://10.0.0.1:8791", f.control)
	}
	if c.Status == "off" {
		c.Status = ""
	}
	if c.Name == "" {
		c.Name, _ = os.Hostname() // else it has no name
	}
	token, err := os.ReadFile(f.tokenFile)
	if err != nil {
		return c, kit.Usagef("--token-file: %v", err)
	}
	if c.Token = svc.Secret(bytes.TrimSpace(token)); c.Token == "" {
		return c, kit.Usagef("--token-file %s: the file is empty", f.tokenFile)
	}
	if f.caFile != "" {
		if c.CAs, err = authorities(f.caFile); err != nil {
			return c, err
		}
	}
	c.Gateway, err = gatewayConfig(s, logger)
	return c, err
}

func authorities(path string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, kit.Usagef("--ca-file: %v", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, kit.Usagef("--ca-file %s: the file has no certificate", path)
	}
	return pool, nil
}

// gatewayConfig is how visitors are served.
func gatewayConfig(s *config.Daemon, logger *slog.Logger) (gateway.Config, error) {
	locations, err := geoip.Open(s.GeoIP, logger)
	if err != nil {
		return gateway.Config{}, fmt.Errorf("SVC_GEOIP_DB: %w", err)
	}
	limits := daemon.ClientLimits(s.Clients)
	c := gateway.Config{
		Engine: gateway.Engine(s.GatewayEngine), TrustedProxies: s.TrustedProxies, LocationHeaders: s.TrustedProxies != nil, Locate: locations.Locate,
		Compress: s.Compression, ClientTimeout: limits.Timeout,
		MaxConns: limits.Total, MaxConnsPerClient: limits.PerClient, MaxConnsPerVersion: limits.PerVersion,
	}
	if u, err := url.Parse(s.GatewayURL); err == nil {
		c.PublicHost = u.Hostname()
	}
	return c, nil
}
