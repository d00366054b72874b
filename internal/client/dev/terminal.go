package dev

import (
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// terminal reads keys one by one. Ctrl-C stays a signal.
type terminal struct {
	file  *os.File
	saved unix.Termios
	keys  chan rune
	stop  chan struct{}
	done  sync.WaitGroup
}

// openTerminal prepares the terminal for keys. It returns nil if the input is no
// terminal, or belongs to a foreground program other than this one.
func openTerminal(in io.Reader) *terminal {
	file, ok := in.(*os.File)
	if !ok {
		return nil
	}
	fd := int(file.Fd())
	saved, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return nil
	}
	if group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err != nil || group != unix.Getpgrp() {
		return nil
	}
	t := &terminal{file: file, saved: *saved, keys: make(chan rune), stop: make(chan struct{})}
	if t.prepare() != nil {
		return nil
	}
	go t.read() // ends with the program: a read of a terminal cannot be interrupted
	t.done.Go(t.resume)
	return t
}

// prepare turns echo and line editing off.
func (t *terminal) prepare() error {
	mode := t.saved
	mode.Lflag &^= unix.ICANON | unix.ECHO
	mode.Cc[unix.VMIN], mode.Cc[unix.VTIME] = 1, 0
	return unix.IoctlSetTermios(int(t.file.Fd()), setTermios, &mode)
}

// width is the width of the terminal now, in characters; 0 if it is not known.
func (t *terminal) width() int {
	if t == nil {
		return 0
	}
	size, err := unix.IoctlGetWinsize(int(t.file.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}

// close restores the terminal.
func (t *terminal) close() {
	close(t.stop)
	t.done.Wait()
	_ = unix.IoctlSetTermios(int(t.file.Fd()), setTermios, &t.saved) // the terminal may be gone
}

// resume prepares the terminal again after the shell had it (Ctrl-Z, fg).
func (t *terminal) resume() {
	again := make(chan os.Signal, 1)
	signal.Notify(again, syscall.SIGCONT)
	defer signal.Stop(again)
	for {
		select {
		case <-again:
			_ = t.prepare()
		case <-t.stop:
			return
		}
	}
}

func (t *terminal) read() {
	var buf [64]byte
	for {
		n, err := t.file.Read(buf[:])
		if err != nil {
			return
		}
		for text := buf[:n]; len(text) > 0; {
			r, size := utf8.DecodeRune(text)
			text = text[size:]
			if r == escape && len(text) > 0 {
				break // a key of several bytes, such as an arrow
			}
			select {
			case t.keys <- r:
			case <-t.stop:
				return
			}
		}
	}
}

// The keys that are not letters.
const (
	escape    = 0x1b
	enter     = '\n'
	backspace = 0x7f
)
