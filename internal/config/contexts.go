package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"go.yaml.in/yaml/v3"

	"github.com/svcctl/svcctl/internal/lib/atomicfile"
)

// Context is a server that svcctl login stored.
type Context struct {
	Server      string `yaml:"server"`
	AdminToken  string `yaml:"admin_token,omitempty"`
	DeployToken string `yaml:"deploy_token,omitempty"`
	CAFile      string `yaml:"ca_file,omitempty"` // absolute
}

// Contexts are the servers that a user is logged in to.
type Contexts struct {
	Current  string             `yaml:"current,omitempty"` // "" for none
	Contexts map[string]Context `yaml:"contexts,omitempty"`
}

var contextName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,62}$`)

// ValidContextName reports whether a context can have that name.
func ValidContextName(name string) bool { return contextName.MatchString(name) }

// ContextsPath is the file of the contexts: $XDG_CONFIG_HOME/svcctl/config.yaml.
func ContextsPath(list []string) string {
	return filepath.Join(xdg(environ(list), "XDG_CONFIG_HOME", ".config"), "svcctl", "config.yaml")
}

// ReadContexts reads the contexts of a user; a file that does not exist has none. It
// refuses a file that others can read: it holds tokens.
func ReadContexts(list []string) (Contexts, error) {
	c := Contexts{Contexts: map[string]Context{}}
	path := ContextsPath(list)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("reading the contexts: %w", err)
	}
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		return c, fmt.Errorf("%s holds tokens and other users can read it: run chmod 600 %[1]s", path)
	}
	if err := yaml.Unmarshal(data, &c); err != nil {
		return c, fmt.Errorf("%s is no YAML of contexts: correct the file, or delete it and log in again", path) // the cause may hold a token
	}
	if c.Contexts == nil {
		c.Contexts = map[string]Context{}
	}
	return c, nil
}

// WriteContexts replaces the file of the contexts, readable by its owner only. A link that leads to the
// file, as programs that keep such files in a repository make it, stays.
func WriteContexts(list []string, c Contexts) error {
	path := atomicfile.Target(ContextsPath(list))
	data, err := yaml.Marshal(c)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = atomicfile.WriteFile(path, data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("writing the contexts: %w", err)
	}
	return nil
}
