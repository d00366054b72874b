package daemon

import (
	"os"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/config"
)

// childEnv returns the environment of our child processes, without networkEnv.
func childEnv(cfg *config.Daemon) []string {
	e := cfg.Environment
	env := []string{"PATH=" + e.Path, "HOME=" + e.Home, "TMPDIR=" + e.Temporary}
	if e.Race != "" {
		env = append(env, "GORACE="+e.Race)
	}
	return env
}

// hostEnv returns the environment of worker hosts, which must reach the object store
// like the daemon. They pass none of it to workerd.
func hostEnv(cfg *config.Daemon, embedded bool) []string {
	if embedded {
		return childEnv(cfg) // the embedded store has a socket
	}
	return append(childEnv(cfg), networkEnv(os.Environ())...) // as in this process
}

// networkEnv returns the variables of environ that Go's HTTP clients read: proxies and
// certificates.
func networkEnv(environ []string) []string {
	names := []string{"SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"}
	return slices.DeleteFunc(environ, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return !slices.Contains(names, name)
	})
}
