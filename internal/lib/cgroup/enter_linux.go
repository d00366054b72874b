package cgroup

import (
	"os"
	"os/exec"
	"syscall"
)

// enter has cmd start in the group of dir.
func enter(cmd *exec.Cmd, dir *os.File) bool {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(dir.Fd())
	return true
}
