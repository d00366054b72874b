package config

import (
	"errors"
	"fmt"
	"net/mail"
	"slices"
	"strings"
)

// TLS says how the daemon serves https. The zero value does not.
type TLS struct {
	Certs, Keys []string // paths, in pairs
	Email       string   // contact of an authority that issues certificates; "" for none
	Directory   string   // URL of the authority; "" for Let's Encrypt
	DNS         DNS      // of the challenge DNS-01
	Port        int      // 0 chooses one
	HTTPPort    int      // of redirects; 0 chooses one, -1 for none
}

// On reports whether the daemon serves https.
func (t *TLS) On() bool { return len(t.Certs) > 0 || t.Email != "" }

// encryption are the settings of https.
func encryption() []Setting {
	return slices.Concat(certificates(), dnsSettings(), []Setting{
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
	})
}

// certificates are the settings that say where certificates come from.
func certificates() []Setting {
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
			Env: "SVC_TLS_EMAIL", Flag: "tls-email", Help: "contact for an authority that issues a certificate for each host at its first request, whose terms you accept with this setting; it makes the server serve https",
			parse: func(d *Daemon, v string) (err error) { d.TLS.Email, err = email(v); return err },
		},
		{
			Env: "SVC_TLS_DIRECTORY", Help: "ACME directory of the authority, an https URL; default: Let's Encrypt",
			parse: func(d *Daemon, v string) (err error) { d.TLS.Directory, err = secureURL(v); return err },
		},
	}
}

// email returns an address without a name.
func email(v string) (string, error) {
	a, err := mail.ParseAddress(v)
	if err != nil || a.Address != v {
		return "", errors.New("want an address such as ops@example.com")
	}
	return v, nil
}

// secureURL is an httpURL of https.
func secureURL(v string) (string, error) {
	if v, err := httpURL(v); err == nil && strings.HasPrefix(v, "https://") {
		return v, nil
	}
	return "", errors.New("want an https URL without credentials and query")
}

func (t *TLS) check() []error {
	var problems []error
	if t.Directory != "" && t.Email == "" {
		problems = append(problems, errors.New("  SVC_TLS_DIRECTORY needs SVC_TLS_EMAIL"))
	}
	if t.DNS.Provider != "" && t.Email == "" {
		problems = append(problems, errors.New("  SVC_TLS_DNS needs SVC_TLS_EMAIL"))
	}
	problems = append(problems, t.DNS.check()...)
	if len(t.Certs) != len(t.Keys) {
		problems = append(problems, fmt.Errorf("  SVC_TLS_CERT names %d files, SVC_TLS_KEY %d: name a key for each certificate", len(t.Certs), len(t.Keys)))
	}
	if t.On() && t.Port != 0 && t.Port == t.HTTPPort {
		problems = append(problems, errors.New("  SVC_TLS_PORT and SVC_HTTP_PORT are the same"))
	}
	return problems
}
