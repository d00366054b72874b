package process

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"

	"github.com/svcctl/svcctl/internal/host/isolate"
	"github.com/svcctl/svcctl/internal/svc"
)

// maxRunDir is the maximum length of Config.RunDir: the path of a socket, with
// "/0123456789abcdef/hyperdrive-99.sock", has at most 103 bytes on every platform.
const maxRunDir = 67

// Config says how worker hosts are started.
type Config struct {
	Logger  *slog.Logger
	Command []string // path of a binary of ours, and arguments
	Path    string   // file that is executed in place of Command[0]; "" for none
	Workerd string   // path of the workerd binary
	RunDir  string   // absolute and short, for sockets; owned by this package
	Environ []string // complete environment, as "KEY=value"; workerd gets a part of it
	Groups  Groups   // makes a control group for each worker host; nil makes none

	Host svc.HostConfig // for spares

	Spares int // worker hosts that are kept ready for the next versions; 0 for none
	// SparesSoon starts the missing spares soon after each launch, and after the first one
	// already: for watch mode, where versions come one by one.
	SparesSoon bool
}

// Check returns an error if c is incomplete.
func (c Config) Check() error {
	switch {
	case c.Logger == nil:
		return errors.New("logger required")
	case len(c.Command) == 0:
		return errors.New("host command required")
	case !filepath.IsAbs(c.Command[0]):
		return errors.New("host command must begin with an absolute path")
	case c.Workerd == "":
		return errors.New("workerd binary required")
	case !filepath.IsAbs(c.RunDir):
		return errors.New("run directory must be absolute")
	case len(c.RunDir) > maxRunDir:
		return fmt.Errorf("run directory %q is longer than %d bytes, which is too long for sockets", c.RunDir, maxRunDir)
	}
	return nil
}

// sweep ends what workerds with uids of their own have left behind.
func (c Config) sweep() {
	if !c.Host.Isolation.On() {
		return
	}
	if err := isolate.Sweep(isolate.Base, c.Host.Isolation); err != nil {
		c.Logger.Warn("processes of a workerd that has ended may still run; their uid is not used again", "error", err)
	}
}

var runName = regexp.MustCompile(`^[A-Za-z0-9_-]{16}$`)

// Clear creates the run directory, and removes files and processes of an earlier process of ours.
func (c Config) Clear() error {
	c.clearGroups()
	c.sweep()
	if err := os.MkdirAll(c.RunDir, 0o700); err != nil {
		return fmt.Errorf("creating the run directory: %w", err)
	}
	entries, err := os.ReadDir(c.RunDir)
	if err != nil {
		return fmt.Errorf("reading the run directory: %w", err)
	}
	for _, e := range entries {
		if !runName.MatchString(e.Name()) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(c.RunDir, e.Name())); err != nil {
			return fmt.Errorf("clearing the run directory: %w", err)
		}
	}
	return nil
}
