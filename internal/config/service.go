package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// Service is where systemd finds what it gives to the server of the packages.
type Service struct{ DataDir, File, Variables, Credentials string }

// Packaged returns the places of packaging/systemd/svcd.service.
func Packaged() Service {
	return Service{ServiceDataDir, "/etc/svcctl/svcd.yaml", "/etc/svcctl/svcd.env", "/etc/credstore"}
}

// MachineSource returns the settings of the server that a command on its machine has in mind: for
// root those of the service of the packages, if they are installed; else those of list.
func MachineSource(list []string) (Source, error) {
	if os.Geteuid() != 0 {
		return Source{Environ: list}, nil
	}
	return Packaged().Source(list)
}

// Source returns the settings of the service, below those of list ("NAME=value"): root has the
// server of the machine in mind. It returns list alone if the packages are not installed, if
// list names a data directory, or if a server of root's own has run.
func (s Service) Source(list []string) (Source, error) {
	src, env := Source{Environ: list}, environ(list)
	if env["SVC_DATA_DIR"] != "" || exists(filepath.Join(DefaultDataDir(env), "registry.db")) || !exists(s.File) {
		return src, nil
	}
	text, err := os.ReadFile(s.Variables)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return src, fmt.Errorf("read the settings of the service: %w", err)
	}
	given := variables(string(text))
	given["SVC_DATA_DIR"], given[credentials] = s.DataDir, s.Credentials
	src.File, src.Environ = s.File, slices.Clone(list)
	for name, value := range given {
		if _, ok := env[name]; !ok {
			src.Environ = append(src.Environ, name+"="+value)
		}
	}
	return src, nil
}

// tokens returns the tokens that the service was given, which are not in its note; none if its
// settings cannot be read.
func (s Service) tokens(env map[string]string) (deploy, admin svc.Secret) {
	src, err := s.Source([]string{"HOME=" + env["HOME"]})
	if err != nil || src.File == "" {
		return "", ""
	}
	d, err := LoadDaemon(src)
	if err != nil {
		return "", ""
	}
	return d.DeployToken, d.AdminToken
}

// variables reads a file of systemd's EnvironmentFile=: lines NAME=value, with quotes around
// the value or not, and comments.
func variables(text string) map[string]string {
	vars := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		name, value, ok := strings.Cut(line, "=")
		if !ok || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		value = strings.TrimSpace(value)
		if n := len(value); n > 1 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
			value = value[1 : n-1]
		}
		vars[strings.TrimSpace(name)] = value
	}
	return vars
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
