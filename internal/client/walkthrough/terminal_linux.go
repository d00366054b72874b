package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// openTerminal makes a pseudo terminal of a size. The program gets slave.
func openTerminal(columns, lines uint16) (master, slave *os.File, err error) {
	if master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		return nil, nil, fmt.Errorf("opening a terminal: %w", err)
	}
	number, err := prepare(master, columns, lines)
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("opening a terminal: %w", err), master.Close())
	}
	return master, slave, nil
}

// prepare unlocks a terminal, gives it its size, and returns its number.
func prepare(master *os.File, columns, lines uint16) (number int, err error) {
	raw, err := master.SyscallConn()
	if err != nil {
		return 0, err
	}
	controlErr := raw.Control(func(fd uintptr) {
		if err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err != nil {
			return
		}
		if err = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: lines}); err != nil {
			return
		}
		number, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
	})
	return number, errors.Join(err, controlErr)
}

// inForeground makes cmd the foreground program of its terminal, which ends with this program.
func inForeground(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0, Pdeathsig: syscall.SIGKILL}
}
