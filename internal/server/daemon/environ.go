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

// MachineEnv returns the environment of worker hosts of svcd host, whose own is environ.
func MachineEnv(environ []string) []string {
	env := networkEnv(slices.Clone(environ))
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if slices.Contains([]string{"PATH", "HOME", "TMPDIR", "GORACE"}, name) {
			env = append(env, entry)
		}
	}
	return env
}

// MachineRunDir creates the private directory of unix sockets of svcd host below dir, as for a
// daemon; remove deletes it.
func MachineRunDir(dir string) (run string, remove func() error, err error) {
	return (&dataDir{path: dir}).runDir(os.TempDir())
}
