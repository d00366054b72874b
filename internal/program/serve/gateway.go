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

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/cli/whole"
	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/edge/edgemain"
	"github.com/svcctl/svcctl/internal/edge/gateway"
	"github.com/svcctl/svcctl/internal/edge/geoip"
	"github.com/svcctl/svcctl/internal/lib/systemd"
	"github.com/svcctl/svcctl/internal/server/daemon"
	"github.com/svcctl/svcctl/internal/svc"
)

// runGateway runs a gateway on another machine than the server.
func runGateway(ctx context.Context, k *kit.Kit, f whole.Gateway) error {
	settings, err := config.LoadGateway(k.Environ)
	if err != nil {
		return kit.Usagef("%v", err)
	}
	level := &slog.LevelVar{}
	level.Set(settings.LogLevel)
	c, err := edgeConfig(f, settings, newLogger(ctx, k, settings, level))
	if err != nil {
		return err
	}
	e, err := edgemain.Start(ctx, c)
	if err != nil {
		return err
	}
	visitors, status := e.Addr()
	k.Printf("gateway    http://%s   routes of %s", visitors, c.Control)
	k.Printf("status     %s", cmp.Or(status, "off"))
	manager := systemd.NewManager(k.Environ, os.Getpid())
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

// edgeConfig reads the files that the flags name.
func edgeConfig(f whole.Gateway, s *config.Daemon, logger *slog.Logger) (c edgemain.Config, err error) {
	c = edgemain.Config{Listen: f.Listen, Status: f.Status, Name: f.Name, Logger: logger}
	if c.Control, err = url.Parse(f.Control); err != nil || c.Control.Host == "" || c.Control.Scheme != "http" && c.Control.Scheme != "https" {
		return c, kit.Usagef("--control %s: want a URL such as https://10.0.0.1:8791", f.Control)
	}
	if c.Status == "off" {
		c.Status = ""
	}
	if c.Name == "" {
		c.Name, _ = os.Hostname() // else it has no name
	}
	token, err := os.ReadFile(f.TokenFile)
	if err != nil {
		return c, kit.Usagef("--token-file: %v", err)
	}
	if c.Token = svc.Secret(bytes.TrimSpace(token)); c.Token == "" {
		return c, kit.Usagef("--token-file %s: the file is empty", f.TokenFile)
	}
	if f.CAFile != "" {
		if c.CAs, err = authorities(f.CAFile); err != nil {
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
