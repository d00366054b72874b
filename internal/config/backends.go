package config

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// backends are the services outside of the server that bindings of workers lead to.
func backends() []Setting {
	return []Setting{
		{
			Env: "SVC_AI_URL", Help: "endpoint of an OpenAI-compatible API that answers for Workers AI, such as http://127.0.0.1:11434/v1",
			parse: func(d *Daemon, v string) (err error) { d.Backends.AI.URL, err = httpURL(v); return err },
		},
		{
			Env: "SVC_AI_KEY", Secret: true, Help: "bearer token for SVC_AI_URL; workers do not see it",
			parse: func(d *Daemon, v string) error { d.Backends.AI.Key = v; return nil },
		},
		{
			Env: "SVC_AI_MODELS", Help: "models of SVC_AI_URL for the names that workers use, such as @cf/meta/*=llama3.1,*=gpt-4o; default: the names are passed unchanged",
			parse: func(d *Daemon, v string) (err error) { d.Backends.AI.Models, err = models(v); return err },
		},
		analyticsKeep(),
		{ //nolint:gosec // the password is the word
			Env: "SVC_SMTP_URL", Secret: true, Help: "SMTP server that takes the mail of workers, smtp://user:password@host:587 or smtps://…:465; default: mail stays in the outbox of the version",
			parse: func(d *Daemon, v string) (err error) { d.Backends.Mail, err = smtpURL(v); return err },
		},
		{
			Env: "SVC_HYPERDRIVE", Secret: true, Help: "databases that workers may connect to by Hyperdrive, by the ids of project files: id=postgres://user:password@host:5432/name?sslmode=verify-full, with commas between",
			parse: func(d *Daemon, v string) (err error) { d.Backends.Databases, err = databases(v); return err },
		},
	}
}

// analyticsKeep is the setting for data points.
func analyticsKeep() Setting {
	return Setting{
		Env: "SVC_ANALYTICS_RETENTION", Default: "90d", Help: "age at which data points of Analytics Engine are deleted, at least one hour; off for never",
		parse: func(d *Daemon, v string) (err error) {
			d.Backends.AnalyticsKeep, err = Duration(v)
			if err == nil && d.Backends.AnalyticsKeep != 0 && d.Backends.AnalyticsKeep < time.Hour {
				err = errors.New("want at least 1h, or off")
			}
			return err
		},
	}
}

// models reads name=model pairs with commas between.
func models(v string) (list []svc.AIModel, err error) {
	for part := range strings.SplitSeq(v, ",") {
		name, model, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok || name == "" || model == "" {
			return nil, errors.New("want pairs such as @cf/meta/*=llama3.1, with commas between")
		}
		if strings.Contains(strings.TrimSuffix(name, "*"), "*") {
			return nil, fmt.Errorf("%q has a * that is not at its end", name)
		}
		list = append(list, svc.AIModel{Name: name, Model: model})
	}
	return list, nil
}

// smtpURL reads the address of a mail server. Errors do not repeat it.
func smtpURL(v string) (m svc.MailRelay, err error) {
	u, err := url.Parse(v)
	if err != nil || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" || !only(u.Query(), "sslrootcert") {
		return m, errors.New("want smtp://user:password@host:587 or smtps://user:password@host:465")
	}
	m.TLS = u.Scheme == "smtps"
	fallback := "587"
	if m.TLS {
		fallback = "465"
	}
	m.Address = net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), fallback))
	m.User = u.User.Username()
	m.Password, _ = u.User.Password()
	m.RootCert = u.Query().Get("sslrootcert")
	return m, nil
}

// only reports whether a query has no other names.
func only(query url.Values, name string) bool {
	for other := range query {
		if other != name {
			return false
		}
	}
	return true
}

// databases reads id=URL pairs. Errors repeat no URL: it has a password.
func databases(v string) (list []svc.ForeignDatabase, err error) {
	for part := range strings.SplitSeq(v, ",") {
		id, text, ok := strings.Cut(strings.TrimSpace(part), "=")
		u, err := url.Parse(text)
		schemes := map[string]string{"postgres": "postgresql", "postgresql": "postgresql", "mysql": "mysql"}
		if !ok || id == "" || err != nil || schemes[u.Scheme] == "" || u.Hostname() == "" || strings.Trim(u.Path, "/") == "" {
			return nil, errors.New("want pairs such as id=postgres://user:password@host:5432/name, with commas between; commas in a password are %2C")
		}
		d := svc.ForeignDatabase{ID: id, Scheme: schemes[u.Scheme], User: u.User.Username(), Database: strings.Trim(u.Path, "/")}
		d.Password, _ = u.User.Password()
		ports := map[string]string{"postgresql": "5432", "mysql": "3306"}
		d.Address = net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), ports[d.Scheme]))
		if err := databaseTLS(&d, u.Query()); err != nil {
			return nil, fmt.Errorf("%s: %w", id, err)
		}
		list = append(list, d)
	}
	return list, nil
}

// modes are the words of drivers for PostgreSQL and for MySQL, in small letters.
var modes = map[string]string{ //nolint:gochecknoglobals // a constant
	"": "", "disable": "", "disabled": "",
	"require": svc.TLSRequire, "required": svc.TLSRequire,
	"verify-ca": svc.TLSVerifyCA, "verify_ca": svc.TLSVerifyCA,
	"verify-full": svc.TLSVerify, "verify_identity": svc.TLSVerify,
}

// databaseTLS reads the parameters of a URL as drivers know them, for either database. It refuses
// others about TLS: a database is not to be used with less than they ask for.
func databaseTLS(d *svc.ForeignDatabase, query url.Values) error {
	for name := range query {
		known := slices.Contains([]string{"sslmode", "ssl-mode", "sslrootcert", "ssl-ca"}, name)
		if lower := strings.ToLower(name); !known && (strings.Contains(lower, "ssl") || strings.Contains(lower, "tls")) {
			return fmt.Errorf("%s has no meaning here: TLS is set by sslmode and sslrootcert, for MySQL by ssl-mode and ssl-ca", name)
		}
	}
	mode := cmp.Or(query.Get("sslmode"), query.Get("ssl-mode"))
	tls, known := modes[strings.ToLower(mode)]
	switch {
	case !known && d.Scheme == "mysql":
		return fmt.Errorf("ssl-mode is %q: want DISABLED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY", mode)
	case !known:
		return fmt.Errorf("sslmode is %q: want disable, require, verify-ca or verify-full", mode)
	}
	d.TLS, d.RootCert = tls, cmp.Or(query.Get("sslrootcert"), query.Get("ssl-ca"))
	return nil
}
