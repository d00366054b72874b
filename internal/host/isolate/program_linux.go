package isolate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
)

// programName is the link in a directory of sockets through which workerd is executed.
const programName = "workerd"

// Dress has cmd, which is about to start in its Dir, run with the uid and gid of the lease, and no
// other group. The uid may enter Dir and create sockets in it until Bar. It need not reach
// cmd.Path, which may be below the home of the server: the program is passed on open. Call release
// when cmd has started or failed.
func (l *Lease) Dress(cmd *exec.Cmd) (release func(), err error) {
	if err := l.enter(cmd.Dir); err != nil {
		return nil, err
	}
	program, err := os.Open(cmd.Path)
	if err != nil {
		return nil, err
	}
	link := filepath.Join(cmd.Dir, programName)
	if err = os.Remove(link); err == nil || errors.Is(err, fs.ErrNotExist) {
		err = os.Symlink("/proc/self/fd/"+strconv.Itoa(3+len(cmd.ExtraFiles)), link)
	}
	if err != nil {
		return nil, errors.Join(err, program.Close())
	}
	cmd.Path, cmd.ExtraFiles = link, append(cmd.ExtraFiles, program)
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(l.UID), Gid: uint32(l.UID)} //nolint:gosec // as parsed
	return func() { _ = program.Close() }, nil
}

// enter lets the uid into a directory of this process, where it may create files.
func (l *Lease) enter(dir string) error {
	err := os.Chown(dir, -1, l.UID)
	if err == nil {
		err = os.Chmod(dir, 0o770) //nolint:gosec // the group has no other member
	}
	if err != nil {
		return fmt.Errorf("giving a directory to a uid: %w", err)
	}
	return nil
}

// Bar ends the right of the uid to create and rename files in dir. It returns an error if the uid
// made something else than sockets: through a link, this process would connect to a socket that
// the uid cannot reach.
func (l *Lease) Bar(dir string) error {
	if err := os.Chmod(dir, 0o750); err != nil { //nolint:gosec // as above
		return err
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		info, infoErr := e.Info()
		if infoErr != nil {
			err = errors.Join(err, infoErr)
			continue
		}
		if s, ok := info.Sys().(*syscall.Stat_t); ok && int(s.Uid) == l.UID && info.Mode().Type() != fs.ModeSocket {
			err = errors.Join(err, fmt.Errorf("workerd made %s, which is no socket", e.Name()))
		}
	}
	return err
}
