package config

import (
	"errors"
	"fmt"
)

// TLS says how the daemon serves https. The zero value does not.
type TLS struct {
	Certs, Keys []string // paths, in pairs
	Port        int      // 0 chooses one
	HTTPPort    int      // of redirects; 0 chooses one, -1 for none
}

// On reports whether the daemon serves https.
func (t *TLS) On() bool { return len(t.Certs) > 0 }

// encryption are the settings of https.
func encryption() []Setting {
	return []Setting{
		{
			Env: "SVC_TLS_CERT", Help: "files of certificates with their chains, PEM, with commas between; they make the server serve https, and are read again when they change",
			parse: func(d *Daemon, v string) (err error) { d.TLS.Certs, err = files(v); return err },
		},
		{
			Env: "SVC_TLS_KEY", Help: "files of the keys of SVC_TLS_CERT, PEM, in the same order",
			parse: func(d *Daemon, v string) (err error) { d.TLS.Keys, err = files(v); return err },
		},
		{
			Env: "SVC_TLS_PORT", Default: "443", Help: "port of https, of the gateway and of the hosts in SVC_API_URL and SVC_API_HOSTS; 0 chooses a free one",
			parse: func(d *Daemon, v string) (err error) { d.TLS.Port, err = port(v); return err },
		},
		{
			Env: "SVC_HTTP_PORT", Default: "80", Help: "port that redirects to https, if the server serves https; 0 chooses a free one, off for none",
			parse: func(d *Daemon, v string) (err error) {
				if d.TLS.HTTPPort = -1; v != "off" {
					d.TLS.HTTPPort, err = port(v)
				}
				return err
			},
		},
	}
}

func (t *TLS) check() []error {
	var problems []error
	if len(t.Certs) != len(t.Keys) {
		problems = append(problems, fmt.Errorf("  SVC_TLS_CERT names %d files, SVC_TLS_KEY %d: name a key for each certificate", len(t.Certs), len(t.Keys)))
	}
	if t.On() && t.Port != 0 && t.Port == t.HTTPPort {
		problems = append(problems, errors.New("  SVC_TLS_PORT and SVC_HTTP_PORT are the same"))
	}
	return problems
}
