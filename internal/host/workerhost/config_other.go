//go:build !linux

package workerhost

import (
	"errors"
	"fmt"
	"os"
)

// configFile is a rendered config on its way to workerd: a file without a name
// to inherit, or a path.
type configFile struct {
	file *os.File
	path string
}

// writeConfig writes the config to a file of mode 0600 in dir.
func writeConfig(dir string, text []byte) (*configFile, error) {
	f, err := os.CreateTemp(dir, "config-*.capnp")
	if err != nil {
		return nil, fmt.Errorf("making workerd's config: %w", err)
	}
	_, err = f.Write(text)
	c := &configFile{path: f.Name()}
	if err := errors.Join(err, f.Close()); err != nil {
		c.remove()
		return nil, fmt.Errorf("writing workerd's config: %w", err)
	}
	return c, nil
}

func (c *configFile) remove() { _ = os.Remove(c.path) }
