package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/viper"

	"github.com/svcctl/svcctl/internal/svc"
)

// Source is where settings come from.
type Source struct {
	Environ []string          // "NAME=value", as os.Environ gives it
	File    string            // config file (YAML, TOML or JSON); "" for none
	Flags   map[string]string // flags the user set, by flag name
}

// LoadDaemon reads every setting of the daemon and checks them together. The
// error lists all invalid settings and never contains a secret.
func LoadDaemon(src Source) (*Daemon, error) {
	env := environ(src.Environ)
	v, problems := merge(src, env)
	d := &Daemon{Environment: environment(env)}
	problems = append(problems, unknownVariables(env)...)
	for _, s := range DaemonSettings() {
		problems = append(problems, d.apply(v, env, s)...)
		d.InEffect = append(d.InEffect, inEffect(src, env, v, s))
	}
	d.fill(env)
	problems = append(problems, d.check()...)
	problems = append(problems, d.checkSecretsKey(v, env)...)
	if len(problems) > 0 {
		return nil, fmt.Errorf("the settings are not usable:\n%w", errors.Join(problems...))
	}
	return d, nil
}

// merge lets viper put flags over environment over file.
func merge(src Source, env map[string]string) (*viper.Viper, []error) {
	v := viper.New()
	var problems []error
	if src.File != "" {
		v.SetConfigFile(src.File)
		if err := v.ReadInConfig(); err != nil {
			problems = append(problems, fmt.Errorf("  config file %s: %w", src.File, err))
		}
	}
	known := map[string]bool{}
	for _, s := range DaemonSettings() {
		for _, name := range s.variables() {
			known[strings.ToLower(name)] = true
			if env[name] != "" {
				v.Set(strings.ToLower(name), env[name])
			}
		}
		if value, ok := src.Flags[s.Flag]; ok && s.Flag != "" {
			v.Set(s.Key(), value)
		}
	}
	for _, key := range v.AllKeys() {
		if !known[key] {
			problems = append(problems, fmt.Errorf("  config file %s: unknown setting %s", src.File, key))
		}
	}
	return v, problems
}

func (d *Daemon) apply(v *viper.Viper, env map[string]string, s Setting) []error {
	value := s.Default
	if v.IsSet(s.Key()) {
		value = v.GetString(s.Key())
	}
	name := s.Env + "=" + s.shown(value)
	var err error
	if s.Secret {
		value, name, err = secret(v, env, s)
	}
	if err == nil && value != "" {
		err = s.parse(d, value)
	}
	var removed removedError
	switch {
	case errors.As(err, &removed):
		return []error{fmt.Errorf("  %s %w", name, err)}
	case err != nil:
		return []error{fmt.Errorf("  %s: %w", name, err)}
	}
	return nil
}

// inEffect returns the value of a setting and where it comes from.
func inEffect(src Source, env map[string]string, v *viper.Viper, s Setting) svc.SettingValue {
	out := svc.SettingValue{Name: s.Env, Value: s.Default, Source: "default", Secret: s.Secret}
	if s.Secret {
		return secretInEffect(env, v, s, out)
	}
	if !v.IsSet(s.Key()) {
		return out
	}
	_, flag := src.Flags[s.Flag]
	switch {
	case s.Flag != "" && flag:
		out.Source = "flag"
	case env[s.Env] != "":
		out.Source = "environment"
	default:
		out.Source = "file"
	}
	out.Value = s.shown(v.GetString(s.Key()))
	return out
}

// fill derives what was left out.
func (d *Daemon) fill(env map[string]string) {
	if d.DataDir == "" {
		d.DataDir = DefaultDataDir(env)
	}
	if d.RegistryDB == "" {
		d.RegistryDB = filepath.Join(d.DataDir, "registry.db")
	}
	scheme := "http"
	if strings.HasPrefix(d.GatewayURL, "https:") || d.GatewayURL == "" && d.TLS.On() {
		scheme = "https"
	}
	d.SchemePreview = cmp.Or(d.SchemePreview, scheme)
	d.SchemeProd = cmp.Or(d.SchemeProd, scheme)
	d.DeployToken = cmp.Or(d.DeployToken, d.LegacyToken)
	d.AdminToken = cmp.Or(d.AdminToken, d.LegacyToken)
}

// check looks at settings that depend on each other.
func (d *Daemon) check() []error {
	problems := append(d.TLS.check(), d.checkGateways()...)
	if (d.DeployToken == "") != (d.AdminToken == "") {
		problems = append(problems, errors.New("  SVC_DEPLOY_TOKEN and SVC_ADMIN_TOKEN: set both, or PLATFORM_TOKEN, or none"))
	}
	if d.AdminToken == "" && d.TokensFile == "" && !isLoopback(d.ListenHost) {
		problems = append(problems, fmt.Errorf("  SVC_LISTEN_HOST=%s is reachable from outside: set SVC_DEPLOY_TOKEN and SVC_ADMIN_TOKEN", d.ListenHost))
	}
	if d.S3.Endpoint == "" && (d.S3.AccessKey != "" || d.S3.SecretKey != "") {
		problems = append(problems, errors.New("  S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY are set, S3_ENDPOINT is not: set it, or unset them to use the embedded store"))
	}
	if d.S3.Endpoint != "" && (d.S3.AccessKey == "" || d.S3.SecretKey == "") {
		problems = append(problems, errors.New("  S3_ENDPOINT needs S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY"))
	}
	if dir := d.BranchStore.Dir; dir != "" && holds(dir, d.DataDir) {
		problems = append(problems, fmt.Errorf("  BRANCH_STORE=%s holds the data directory: give it a directory of its own", dir))
	}
	problems = append(problems, d.checkHosts()...)
	if d.Forks.Production == svc.ProdForkScrub && d.ScrubSQL == "" {
		problems = append(problems, errors.New("  SVC_PROD_FORK=scrub needs a usable SVC_SCRUB_SQL, the file of the SQL to run"))
	}
	if d.GCGrace < 4*d.LeaseTTL && d.GCGrace > 0 {
		problems = append(problems, fmt.Errorf("  SVC_GC_GRACE=%v is less than four times SVC_LEASE_TTL=%v", d.GCGrace, d.LeaseTTL))
	}
	if _, err := d.ingress(); err != nil {
		problems = append(problems, fmt.Errorf("  SVC_PREVIEW_URL_TEMPLATE: %w", err))
	}
	return problems
}

// holds reports whether path is dir or lies below it.
func holds(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, dir+string(filepath.Separator))
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// unknownVariables reports unknown SVC_ names [D46]. SVC_FAILPOINT belongs
// to test builds, which alone read it.
func unknownVariables(env map[string]string) []error {
	known := map[string]bool{"SVC_FAILPOINT": true}
	for _, s := range DaemonSettings() {
		for _, name := range s.variables() {
			known[name] = true
		}
	}
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(env)) {
		switch {
		case !strings.HasPrefix(name, "SVC_") || known[name]:
		case serviceLink.MatchString(name):
			problems = append(problems, fmt.Errorf("  %s: unknown setting, which Kubernetes sets for a Service named svc: set enableServiceLinks: false in the pod, or rename the Service", name))
		default:
			problems = append(problems, fmt.Errorf("  %s: unknown setting", name))
		}
	}
	return problems
}

// serviceLink matches the variables that Kubernetes sets in each pod for a Service
// named svc, or svc-NAME.
var serviceLink = regexp.MustCompile(`^SVC_(.+_)?(PORT(_[0-9]+_(TCP|UDP|SCTP)(_PROTO|_PORT|_ADDR)?)?|SERVICE_HOST|SERVICE_PORT(_.+)?)$`)

func environ(list []string) map[string]string {
	env := make(map[string]string, len(list))
	for _, kv := range list {
		name, value, _ := strings.Cut(kv, "=")
		env[name] = value
	}
	return env
}
