package svctest

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// Process is a role in a child process. It speaks in lines on its stdout, each
// beginning with a word: "READY", "ACK 17". Its methods are safe for concurrent use.
type Process struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	stderr Buffer
	ended  chan struct{}

	mu    sync.Mutex
	lines []string
	news  chan struct{} // closed at the next line
}

// maxLine is the longest line that a process may say, in bytes.
const maxLine = 16 << 20

// Start starts a role. The process is killed when the test ends.
func Start(t testing.TB, role string, args ...string) *Process {
	t.Helper()
	line := Command(role, args...)
	p := &Process{cmd: exec.Command(line[0], line[1:]...), ended: make(chan struct{}), news: make(chan struct{})} //nolint:noctx // ends with the test
	p.cmd.Stderr = &p.stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdin = in
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	go p.listen(out)
	t.Cleanup(p.Kill)
	return p
}

func (p *Process) listen(out io.Reader) {
	defer close(p.ended)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		p.mu.Lock()
		p.lines = append(p.lines, lines.Text())
		close(p.news)
		p.news = make(chan struct{})
		p.mu.Unlock()
	}
	_ = p.cmd.Wait() // State has the result
}

// Lines returns what the process has said so far. The last line of a killed
// process may be cut.
func (p *Process) Lines() []string {
	lines, _ := p.heard()
	return lines
}

func (p *Process) heard() (lines []string, news <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clip(p.lines), p.news
}

// await waits until ok is true of what was said. It reports false if the process
// ends first, and fails the test after [Patience].
func (p *Process) await(t testing.TB, what string, ok func(lines []string) bool) bool {
	t.Helper()
	late := patience()
	defer late.Stop()
	for {
		ended := p.hasEnded() // before the look: what it said last counts
		lines, news := p.heard()
		if ok(lines) {
			return true
		}
		if ended {
			return false
		}
		select {
		case <-news:
		case <-p.ended:
		case <-late.C:
			t.Fatalf("the process did not say %s in %v: %s", what, Patience, p.stderr.String())
		}
	}
}

func (p *Process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// Await waits until the process has said a line that begins with word. It reports
// false if the process ends without.
func (p *Process) Await(t testing.TB, word string) bool {
	t.Helper()
	return p.await(t, word, func(lines []string) bool { return says(lines, word) })
}

// AwaitNext is Await for a line that is said from now on.
func (p *Process) AwaitNext(t testing.TB, word string) bool {
	t.Helper()
	from := len(p.Lines())
	return p.await(t, word, func(lines []string) bool { return says(lines[from:], word) })
}

// AwaitLines waits until the process has said n lines. It reports false if the
// process ends with fewer.
func (p *Process) AwaitLines(t testing.TB, n int) bool {
	t.Helper()
	return p.await(t, "enough", func(lines []string) bool { return len(lines) >= n })
}

func says(lines []string, word string) bool {
	return slices.ContainsFunc(lines, func(line string) bool {
		first, _, _ := strings.Cut(line, " ")
		return first == word
	})
}

// CloseStdin ends the stdin of the process.
func (p *Process) CloseStdin() { _ = p.stdin.Close() }

// Signal sends a signal to the process, which may have ended.
func (p *Process) Signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// Kill kills the process with SIGKILL and returns when it has ended.
func (p *Process) Kill() {
	p.Signal(syscall.SIGKILL)
	<-p.ended
}

// Ended is closed when the process has ended and [Process.Lines] is complete.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// State returns how the process ended. It waits for the end.
func (p *Process) State() *os.ProcessState {
	<-p.ended
	return p.cmd.ProcessState
}

// Killed reports whether SIGKILL ended the process. It waits for the end.
func (p *Process) Killed() bool {
	status, ok := p.State().Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// Result returns all lines of a process that ends by itself. It waits for the end
// and fails the test if the process did not succeed.
func (p *Process) Result(t testing.TB) []string {
	t.Helper()
	Wait(t, "the end of the process", p.ended)
	if state := p.State(); !state.Success() {
		t.Errorf("%v: %s", state, p.Stderr())
	}
	return p.Lines()
}

// Stderr returns what the process has written to stderr so far; all of it once it
// has ended.
func (p *Process) Stderr() string { return p.stderr.String() }
