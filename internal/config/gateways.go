package config

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
)

// Gateways says where gateways on other machines reach the daemon. The zero value lets none in.
type Gateways struct {
	Listen    string // host:port; "" for none
	Cert, Key string // paths; "" for plain HTTP
}

// gateways are the settings for gateways on other machines.
func gateways() []Setting {
	return []Setting{
		{
			Env: "SVC_GATEWAYS_LISTEN", Help: "address, host:port, at which gateways on other machines (svcd gateway) fetch routes and reach versions; they need a token with the role gateway in SVC_TOKENS_FILE; default: none",
			parse: func(d *Daemon, v string) (err error) { d.Gateways.Listen, err = hostPort(v); return err },
		},
		{
			Env: "SVC_GATEWAYS_CERT", Help: "file of the certificate of SVC_GATEWAYS_LISTEN with its chain, PEM, read again when it changes; default: plain HTTP, for a private network",
			parse: func(d *Daemon, v string) (err error) { d.Gateways.Cert, err = absolute(v); return err },
		},
		{
			Env: "SVC_GATEWAYS_KEY", Help: "file of the key of SVC_GATEWAYS_CERT, PEM",
			parse: func(d *Daemon, v string) (err error) { d.Gateways.Key, err = absolute(v); return err },
		},
	}
}

// hostPort returns an address with a port in numbers.
func hostPort(v string) (string, error) {
	_, p, err := net.SplitHostPort(v)
	if err == nil {
		_, err = port(p)
	}
	if err != nil {
		return "", errors.New("want host:port, such as 10.0.0.1:8791")
	}
	return v, nil
}

func (d *Daemon) checkGateways() []error {
	var problems []error
	g := d.Gateways
	if g.Listen != "" && d.TokensFile == "" {
		problems = append(problems, errors.New("  SVC_GATEWAYS_LISTEN needs SVC_TOKENS_FILE, with a token that has the role gateway"))
	}
	if (g.Cert == "") != (g.Key == "") {
		problems = append(problems, errors.New("  SVC_GATEWAYS_CERT and SVC_GATEWAYS_KEY: set both, or none"))
	}
	if g.Listen == "" && g.Cert != "" {
		problems = append(problems, errors.New("  SVC_GATEWAYS_CERT needs SVC_GATEWAYS_LISTEN"))
	}
	return problems
}

// OfGateway reports whether a gateway on another machine reads a setting.
func (s Setting) OfGateway() bool {
	return slices.Contains([]string{
		"SVC_GATEWAY_ENGINE", "SVC_TRUSTED_PROXIES", "SVC_GEOIP_DB", "GATEWAY_URL", "SVC_COMPRESSION",
		"SVC_CLIENT_TIMEOUT", "SVC_MAX_CONNECTIONS", "SVC_MAX_CONNECTIONS_PER_CLIENT", "SVC_MAX_CONNECTIONS_PER_VERSION", "SVC_LOG_LEVEL", "SVC_LOG_FORMAT",
	}, s.Env)
}

// LoadGateway reads the settings of a gateway on another machine from the environment. It
// ignores those of a daemon, and returns an error for an invalid or unknown one.
func LoadGateway(environ []string) (*Daemon, error) {
	var kept []string
	others := map[string]bool{}
	for _, s := range DaemonSettings() {
		for _, name := range s.variables() {
			others[name] = !s.OfGateway()
		}
	}
	for _, v := range environ {
		if name, _, _ := strings.Cut(v, "="); !others[name] {
			kept = append(kept, v)
		}
	}
	d, err := LoadDaemon(Source{Environ: kept})
	if err != nil {
		return nil, fmt.Errorf("settings of the gateway: %w", err)
	}
	return d, nil
}
