package daemon

import (
	"os"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/config"
)

// childEnv is the whole environment of our child processes, but for networkEnv.
func childEnv(cfg *config.Daemon) []string {
	e := cfg.Environment
	env := []string{"PATH=" + e.Path, "HOME=" + e.Home, "TMPDIR=" + e.Temporary}
	if e.Race != "" {
		env = append(env, "GORACE="+e.Race)
	}
	return env
}

// hostEnv is the environment of runtime hosts, which must find the object store
// in the way we do. They give nothing of it to workerd.
func hostEnv(cfg *config.Daemon, embedded bool) []string {
	if embedded {
		return childEnv(cfg) // its socket is all they need
	}
	return append(childEnv(cfg), networkEnv(os.Environ())...) // as Go reads it in this process
}

// networkEnv is what of environ Go's clients look at: proxies, and whom to trust.
func networkEnv(environ []string) []string {
	names := []string{"SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"}
	return slices.DeleteFunc(environ, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return !slices.Contains(names, name)
	})
}
