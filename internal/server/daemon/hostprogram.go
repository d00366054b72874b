package daemon

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/svcctl/svcctl/internal/fleet/process"
)

// hostProgram is the name of the program that is the worker host alone, beside our own binary.
const hostProgram = "svchost"

// setHostCommand chooses what worker hosts execute.
func (d *Daemon) setHostCommand(ctx context.Context, c *process.Config, own []string) {
	closer := HostProgram(ctx, d.logger, c, own)
	d.stops.Push("the program of worker hosts", func(context.Context) error { return closer.Close() })
}

// HostProgram sets what worker hosts execute: svchost, or else our own binary with HostCommand.
// Both do the same; svchost starts faster and needs less memory. The caller closes the result
// when no more are started.
func HostProgram(ctx context.Context, log *slog.Logger, c *process.Config, own []string) io.Closer {
	path := filepath.Join(filepath.Dir(own[0]), hostProgram)
	c.Command = append(append([]string{}, own...), HostCommand)
	program, err := openProgram(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		log.InfoContext(ctx, "worker hosts run the main binary: they need more memory", "missing", path)
	case err != nil:
		log.WarnContext(ctx, "worker hosts run the main binary: they start slower", "error", err)
	default:
		c.Command, c.Path = []string{path, HostCommand}, program.path
		return program
	}
	return io.NopCloser(nil)
}

// program is a file to execute. It stays the same file if an upgrade replaces the path.
type program struct {
	*os.File

	path string
}

// openProgram opens the program at path if it is of the same build as this one: the control
// line between them has no version. The caller closes it.
func openProgram(path string) (*program, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Mode()&0o111 == 0 {
		err = errors.New("it is not executable")
	}
	var theirs *debug.BuildInfo
	if err == nil {
		theirs, err = buildinfo.Read(f)
	}
	if err == nil {
		ours, _ := debug.ReadBuildInfo()
		err = sameBuild(ours, theirs)
	}
	var p *program
	if err == nil {
		p, err = keep(f)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("using %s: %w", path, err)
	}
	return p, nil
}

// sameBuild fails unless two programs were built from the same sources. The version of a
// program that was built from changed sources does not tell that.
func sameBuild(ours, theirs *debug.BuildInfo) error {
	version := theirs.Main.Version
	switch {
	case ours == nil || ours.Main.Version != version || ours.Main.Path != theirs.Main.Path:
		return fmt.Errorf("it is of another build: %s %s", theirs.Main.Path, version)
	case version == "" || version == "(devel)" || strings.HasSuffix(version, "+dirty"):
		return errors.New("its build has no version")
	}
	return nil
}
