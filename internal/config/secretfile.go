package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/viper"

	"github.com/svcctl/svcctl/internal/svc"
)

// credentials is the variable that names systemd's directory of credentials. A file in it
// with the key of a secret setting has its value.
const credentials = "CREDENTIALS_DIRECTORY"

const maxSecretFile = 64 << 10 // bytes

// FileEnv is the variable that names a file with the value of the setting; "" if the
// setting is not secret.
func (s Setting) FileEnv() string {
	if !s.Secret {
		return ""
	}
	return s.Env + "_FILE"
}

// fileKey is the key of FileEnv in the config file.
func (s Setting) fileKey() string { return strings.ToLower(s.FileEnv()) }

// variables are the names of the setting in the environment.
func (s Setting) variables() []string {
	if !s.Secret {
		return []string{s.Env}
	}
	return []string{s.Env, s.FileEnv()}
}

// secretSource is a place that gives a secret.
type secretSource struct {
	name string // of the setting, or of the variable that names the file
	file string // path; "" if the setting itself has the value
}

// secretSources returns the places that give a secret.
func secretSources(v *viper.Viper, env map[string]string, s Setting) (list []secretSource) {
	if v.GetString(s.Key()) != "" {
		list = append(list, secretSource{name: s.Env})
	}
	if path := v.GetString(s.fileKey()); path != "" {
		list = append(list, secretSource{s.FileEnv(), path})
	}
	if dir := env[credentials]; dir != "" {
		path := filepath.Join(dir, s.Key())
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			list = append(list, secretSource{credentials, path})
		}
	}
	return list
}

// secret returns the value of a secret, and how an error names it.
func secret(v *viper.Viper, env map[string]string, s Setting) (value, name string, err error) {
	sources := secretSources(v, env, s)
	switch {
	case len(sources) == 0:
		return "", "", nil
	case len(sources) > 1:
		return "", s.Env, fmt.Errorf("is set by %s and by %s: keep one of them", sources[0].name, sources[1].name)
	case sources[0].file == "":
		return v.GetString(s.Key()), s.Env + "=[redacted]", nil
	}
	value, err = readSecret(sources[0].file)
	return value, sources[0].name + "=" + sources[0].file, err
}

// secretInEffect says where a secret comes from. Its value is hidden.
func secretInEffect(env map[string]string, v *viper.Viper, s Setting, out svc.SettingValue) svc.SettingValue {
	sources := secretSources(v, env, s)
	if len(sources) == 0 {
		return out
	}
	out.Value, out.Source = "[redacted]", "file"
	if name := sources[0].name; env[name] != "" {
		out.Source = "environment"
	}
	return out
}

// checkSecretsKey refuses a file of SVC_SECRETS_KEY in the data directory: a copy of the directory would
// open the secrets in it.
func (d *Daemon) checkSecretsKey(v *viper.Viper, env map[string]string) []error {
	for _, from := range secretSources(v, env, Setting{Env: "SVC_SECRETS_KEY", Secret: true}) {
		if from.file != "" && holds(resolved(d.DataDir), resolved(from.file)) {
			return []error{fmt.Errorf("  %s=%s is in the data directory: keep the key where a copy of the data directory does not have it", from.name, from.file)}
		}
	}
	return nil
}

// resolved returns the path that path leads to, or path if it does not exist.
func resolved(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	return path
}

// readSecret reads a file with a secret. Line ends at its end do not count.
func readSecret(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSecretFile+1))
	text := strings.TrimRight(string(data), "\r\n")
	switch {
	case err != nil:
		return "", err
	case len(data) > maxSecretFile:
		return "", fmt.Errorf("the file has more than %d bytes", maxSecretFile)
	case text == "":
		return "", errors.New("the file is empty")
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return "", errors.New("the file is no text")
	}
	return text, nil
}
