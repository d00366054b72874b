package svctest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Terminal is a pseudo terminal of the kernel: the side that a terminal program has.
type Terminal struct {
	t    testing.TB
	file *os.File
}

// InTerminal starts a command as the foreground program of a terminal. What it prints
// goes to out, with plain line ends. The terminal is closed when the test ends; the caller waits
// for the command.
func InTerminal(t testing.TB, cmd *exec.Cmd, out io.Writer) *Terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = master.Close() })
	tt := &Terminal{t, master}
	number := 0
	tt.control(func(fd int) error {
		if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
			return err
		}
		number, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
		return err
	})
	tt.Resize(100, 30)
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			_, _ = out.Write([]byte(strings.ReplaceAll(string(buf[:n]), "\r\n", "\n")))
			if err != nil {
				return
			}
		}
	}()
	return tt
}

func (tt *Terminal) control(f func(fd int) error) {
	tt.t.Helper()
	raw, err := tt.file.SyscallConn()
	if err != nil {
		tt.t.Fatal(err)
	}
	if controlErr := raw.Control(func(fd uintptr) { err = f(int(fd)) }); controlErr != nil || err != nil {
		tt.t.Fatal(controlErr, err)
	}
}

// Resize gives the terminal another size; its program receives SIGWINCH.
func (tt *Terminal) Resize(columns, lines uint16) {
	tt.t.Helper()
	tt.control(func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: lines})
	})
}

// Edits reports whether the terminal edits lines and echoes them, as it does for a shell.
func (tt *Terminal) Edits() (yes bool) {
	tt.t.Helper()
	tt.control(func(fd int) error {
		mode, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		yes = err == nil && mode.Lflag&unix.ICANON != 0 && mode.Lflag&unix.ECHO != 0
		return err
	})
	return yes
}

// Press sends keys, as bytes.
func (tt *Terminal) Press(keys string) {
	tt.t.Helper()
	if _, err := tt.file.WriteString(keys); err != nil {
		tt.t.Fatal(err)
	}
}
