package config

import (
	"cmp"
	"os"
	"path/filepath"
)

// DefaultDataDir is the default data directory of a daemon:
// $XDG_STATE_HOME/svcd [D49].
func DefaultDataDir(env map[string]string) string {
	return filepath.Join(xdg(env, "XDG_STATE_HOME", ".local/state"), "svcd")
}

// ServiceDataDir is the data directory of the daemon of a machine, which a service
// manager runs as a user of its own.
const ServiceDataDir = "/var/lib/svcctl"

func environment(env map[string]string) Environment {
	return Environment{
		Path: env["PATH"], Home: env["HOME"], Temporary: os.TempDir(), Race: env["GORACE"],
		CacheDir: filepath.Join(xdg(env, "XDG_CACHE_HOME", ".cache"), "svcctl"),
	}
}

// xdg is a base directory of the XDG specification, which asks that relative
// values be ignored.
func xdg(env map[string]string, name, fallback string) string {
	if dir := env[name]; filepath.IsAbs(dir) {
		return dir
	}
	home := env["HOME"]
	home = cmp.Or(home, os.TempDir())
	return filepath.Join(home, fallback)
}
