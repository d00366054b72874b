package dev

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// shell is a shell with job control in a terminal.
type shell struct {
	*svctest.Terminal

	t    *testing.T
	out  svctest.Buffer
	read int
}

func newShell(t *testing.T) *shell {
	t.Helper()
	s := &shell{t: t}
	cmd := exec.Command("sh", "-i")
	cmd.Env = append(os.Environ(), "PS1=$ ", "ENV=")
	s.Terminal = svctest.InTerminal(t, cmd, &s.out)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
	})
	s.sees(`\$ $`)
	return s
}

// sees waits for output after what was seen before.
func (s *shell) sees(pattern string) {
	s.t.Helper()
	want := regexp.MustCompile(pattern)
	svctest.Succeeds(s.t, pattern, func() error {
		text := s.out.String()
		at := want.FindStringIndex(text[s.read:])
		if at == nil {
			return fmt.Errorf("the terminal shows %q", text[s.read:])
		}
		s.read += at[1]
		return nil
	})
}

// Ctrl-Z gives the terminal to the shell, and fg gives the keys back, whatever the program does at that
// moment.
func TestSuspend(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.Press(strings.Join(svctest.Command("keys"), " ") + "\n")
	s.sees(`open`)
	for range 30 {
		s.Press("\x1a")
		s.sees(`Stopped`)
		svctest.Eventually(t, "the terminal of a shell", s.Edits)
		s.sees(`\$ $`)
		s.Press("fg\n")
		s.sees(`fg`) // echoed
		s.Press("k")
		s.sees(`key 'k'`)
	}
	s.Press("q")
	s.sees(`key 'q'\n\$ $`)
	if !s.Edits() {
		t.Error("the terminal is not restored")
	}
}

// Between bg and fg the program runs on; the shell sends no signal at such an fg.
func TestBackground(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.Press(strings.Join(svctest.Command("keys"), " ") + "\n")
	s.sees(`open`)
	s.Press("\x1a")
	s.sees(`Stopped[^$]*\$ $`)
	s.Press("bg\n")
	s.sees(`bg\n[^$]*\$ $`)
	s.Press("echo; jobs\n")
	s.sees(`Running`)
	s.sees(`\$ $`)
	s.Press("fg\n")
	s.sees(`fg`)
	s.Press("k")
	s.sees(`key 'k'`)
	s.Press("q")
	s.sees(`key 'q'\n\$ $`)
	if !s.Edits() {
		t.Error("the terminal is not restored")
	}
}
