package process

import (
	"os/exec"
	"path/filepath"

	"github.com/svcctl/svcctl/internal/lib/cgroup"
	"github.com/svcctl/svcctl/internal/svc"
)

// Groups makes control groups: *cgroup.Tree.
type Groups interface {
	// New makes a group for an id of eight hexadecimal digits.
	New(id string) (*cgroup.Group, error)
	// Clear ends what is in the groups of an earlier daemon.
	Clear() error
}

func (c Config) clearGroups() {
	if c.Groups == nil {
		return
	}
	if err := c.Groups.Clear(); err != nil {
		c.Logger.Warn("control groups of an earlier server remain; continuing", "error", err)
	}
}

// startIn starts the host in a group of its own, or else without one: a version that runs
// without shares and limits is better than one that does not run.
func (p *Process) startIn(command func() *exec.Cmd) (err error) {
	if p.cfg.Groups != nil {
		if p.group, err = p.cfg.Groups.New(filepath.Base(p.runDir)); err == nil {
			p.cmd, err = p.group.Start(command)
		}
		if err == nil {
			return nil
		}
		p.cfg.Logger.Warn("a worker host has no control group; starting it without", "error", err)
		p.leaveGroup()
		p.group = nil
	}
	p.cmd, err = p.group.Start(command)
	return err
}

// leaveGroup removes the group of a host that has exited, and notes whether the kernel ended
// the host for its memory: a worker that is short of memory may answer no pings before that.
func (p *Process) leaveGroup() {
	if text := p.group.OutOfMemory(); text != "" {
		p.mu.Lock()
		p.end.Err = svc.Errorf(svc.Unavailable, svc.CodeOutOfMemory, "%s", text)
		p.mu.Unlock()
	}
	if err := p.group.Remove(); err != nil {
		p.cfg.Logger.Warn("a control group remains until the server starts again", "error", err)
	}
}
