package dev

import (
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// terminal reads keys one by one. Ctrl-C stays a signal; Ctrl-Z is a key (see suspend).
type terminal struct {
	file  *os.File
	saved unix.Termios
	keys  chan rune
	stop  chan struct{}
	again chan os.Signal // SIGCONT
	done  sync.WaitGroup

	mu     sync.Mutex // of the mode of the terminal
	closed bool
}

// typeahead is how many keys wait while the session is busy.
const typeahead = 64

// openTerminal prepares the terminal for keys. It returns nil if the input is no
// terminal, or belongs to a foreground program other than this one.
func openTerminal(in io.Reader) *terminal {
	file, ok := in.(*os.File)
	if !ok {
		return nil
	}
	saved, err := unix.IoctlGetTermios(int(file.Fd()), getTermios)
	if err != nil {
		return nil
	}
	t := &terminal{file: file, saved: *saved, keys: make(chan rune, typeahead), stop: make(chan struct{}), again: make(chan os.Signal, 1)}
	signal.Notify(t.again, syscall.SIGCONT)
	if !t.foreground() || t.prepare() != nil {
		signal.Stop(t.again)
		return nil
	}
	go t.read() // ends with the program: a read of a terminal cannot be interrupted
	t.done.Go(t.resume)
	return t
}

// foreground reports whether the terminal belongs to this program.
func (t *terminal) foreground() bool {
	group, err := unix.IoctlGetInt(int(t.file.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// prepare turns echo, line editing and the signal of Ctrl-Z off, until close.
func (t *terminal) prepare() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil
	}
	mode := t.saved
	mode.Lflag &^= unix.ICANON | unix.ECHO
	mode.Cc[unix.VMIN], mode.Cc[unix.VTIME], mode.Cc[unix.VSUSP] = 1, 0, disabled
	return unix.IoctlSetTermios(int(t.file.Fd()), setTermios, &mode)
}

// restore gives the terminal the mode that it had. A terminal that is not ours is left alone:
// changing it would stop the program.
func (t *terminal) restore() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.foreground() {
		_ = unix.IoctlSetTermios(int(t.file.Fd()), setTermios, &t.saved) // the terminal may be gone
	}
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
	signal.Stop(t.again)
	close(t.stop)
	t.done.Wait()
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.restore()
}

// resume prepares the terminal again after a signal has stopped the program (kill -STOP, fg).
func (t *terminal) resume() {
	for {
		select {
		case <-t.again:
			if t.foreground() {
				_ = t.prepare() // the terminal may be gone
			}
		case <-t.stop:
			return
		}
	}
}

// read sends keys until close.
func (t *terminal) read() {
	var buf [64]byte
	for {
		n, err := t.file.Read(buf[:])
		if err != nil {
			return
		}
		for _, r := range keysOf(buf[:n]) {
			if r == rune(t.saved.Cc[unix.VSUSP]) && r != disabled {
				t.suspend()
				r = redraw
			}
			select {
			case t.keys <- r:
			case <-t.stop:
				return
			}
		}
	}
}

const (
	// stopTime is how long suspend waits for its own stop. A process group that no shell
	// waits for is not stopped.
	stopTime = time.Second
	// lookAgain is how often suspend looks whether the terminal is back. A shell sends no signal
	// if the program ran in the background before fg.
	lookAgain = 200 * time.Millisecond
)

// suspend stops the program and its group, as the terminal does at Ctrl-Z, and returns when the
// terminal belongs to the program again. The terminal's own signal could meet a child between fork
// and exec: that child stops, the thread that started it waits for its exec, and so the program
// neither runs nor counts as stopped. Nothing is started meanwhile.
func (t *terminal) suspend() {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	t.restore() // not every shell does
	syscall.ForkLock.RLock()
	_ = unix.Kill(0, unix.SIGTSTP) // its own group: cannot fail
	select {
	case <-continued:
	case <-time.After(stopTime):
	case <-t.stop:
	}
	syscall.ForkLock.RUnlock()
	for !t.foreground() {
		select {
		case <-time.After(lookAgain):
		case <-t.stop:
			return
		}
	}
	_ = t.prepare() // the terminal may be gone
}

// The keys that are not letters.
const (
	escape    = 0x1b
	enter     = '\n'
	backspace = 0x7f
	redraw    = '\f' // Ctrl-L
)

// keysOf returns the keys of what a terminal has sent. Keys of several bytes, such as arrows, are
// left out.
func keysOf(text []byte) (keys []rune) {
	for len(text) > 0 {
		if n := sequence(text); n > 0 {
			text = text[n:]
			continue
		}
		r, size := utf8.DecodeRune(text)
		keys, text = append(keys, r), text[size:]
	}
	return keys
}

// sequence is the length of the control sequence that text begins with: ESC [, parameters
// and a last byte, or ESC O and a byte. It is 0 if text begins with none.
func sequence(text []byte) int {
	if len(text) < 2 || text[0] != escape || text[1] != '[' && text[1] != 'O' {
		return 0
	}
	for n := 2; n < len(text); n++ {
		if text[1] == 'O' || text[n] >= '@' && text[n] <= '~' {
			return n + 1
		}
	}
	return len(text)
}
