package isolate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/svcctl/svcctl/internal/svc"
)

// needed are the capabilities without which this process cannot isolate.
//
//nolint:gochecknoglobals // a constant table
var needed = []struct {
	number uint
	name   string
}{
	{unix.CAP_CHOWN, "CAP_CHOWN"},
	{unix.CAP_DAC_OVERRIDE, "CAP_DAC_OVERRIDE"},
	{unix.CAP_FOWNER, "CAP_FOWNER"},
	{unix.CAP_KILL, "CAP_KILL"},
	{unix.CAP_SETGID, "CAP_SETGID"},
	{unix.CAP_SETUID, "CAP_SETUID"},
}

// has reports whether this process has a capability.
func has(capability uint) bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	err := unix.Capget(&header, &data[0])
	return err == nil && data[capability/32].Effective&(1<<(capability%32)) != 0
}

// MayTrace reports whether this process may handle system calls of a workerd with another uid.
func MayTrace() bool { return has(unix.CAP_SYS_PTRACE) }

// Check returns an error that names what is missing if this process cannot give uids of a range to
// others.
func Check(base string, from svc.Isolation) error {
	var missing []string
	for _, c := range needed {
		if !has(c.number) {
			missing = append(missing, c.name)
		}
	}
	if len(missing) > 0 {
		return refuse("the server may not start processes as other users: it lacks %s", strings.Join(missing, ", ")).
			WithHint("run the server as root, or give its unit AmbientCapabilities= with these" + instead)
	}
	if _, err := os.Stat("/proc/1/status"); err != nil {
		return refuse("the processes of other users are hidden from the server").WithHint("give it CAP_SYS_PTRACE, or ProtectProc=default" + instead).Because(err)
	}
	if err := checkFree(from); err != nil {
		return refuse("%v", err).WithHint("set SVC_ISOLATION_UIDS to a range that nothing else uses")
	}
	return checkUnused(base, from)
}

// checkUnused refuses a range with a process that no server has started.
func checkUnused(base string, from svc.Isolation) error {
	f, err := openLocks(base)
	if err != nil {
		return refuse("the server cannot write to %s", base).WithHint("give its unit RuntimeDirectory=svcctl" + instead).Because(err)
	}
	defer f.Close()
	list, err := users(from.Has)
	for _, uid := range list {
		if err == nil && !wasUsed(f, uid) {
			err = refuse("a process of another program has the uid %d of SVC_ISOLATION_UIDS", uid).WithHint("set a range that nothing else uses")
		}
	}
	return err
}

// Try starts a program with a uid of its own, in a directory as that of a workerd.
func Try(ctx context.Context, base string, from svc.Isolation, program string) (err error) {
	if err := Check(base, from); err != nil {
		return err
	}
	l, err := Take(base, from)
	if err != nil {
		return err
	}
	defer l.Close()
	dir, err := os.MkdirTemp(base, "try-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	cmd := exec.CommandContext(ctx, program, "--version")
	cmd.Dir, cmd.Env, cmd.SysProcAttr = dir, []string{}, &syscall.SysProcAttr{}
	release, err := l.Dress(cmd)
	if err != nil {
		return err
	}
	defer release()
	if out, err := cmd.CombinedOutput(); err != nil {
		return refuse("the uid %d cannot run %s: %v", l.UID, program, errors.Join(err, firstLine(out))).
			WithHint("in a user namespace, set SVC_ISOLATION_UIDS to uids that it has; the program must be readable and executable to all users" + instead)
	}
	return nil
}

func firstLine(out []byte) error {
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if line == "" {
		return nil
	}
	return fmt.Errorf("%s", line)
}
