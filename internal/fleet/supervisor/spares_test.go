package supervisor_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// env is a worker that tells its variables, and prints a line as it starts.
const env = `console.log("starts"); export default { fetch: (req, env) => Response.json(env) }`

// spared is a supervisor with a spare, which counts the launches with and without one.
type spared struct {
	*harness

	launches chan bool
	n        int
}

func startSpared(t *testing.T) *spared {
	t.Helper()
	s := &spared{launches: make(chan bool, 100)}
	s.harness = start(t, func(c *options) {
		c.Spares, c.Host.MemoryMB = 1, 512
		c.OnLaunch = func(spare bool) { s.launches <- spare }
	})
	s.version(t, false) // the first version needs none
	s.version(t, false)
	return s
}

// version starts a version, and checks how it was launched.
func (s *spared) version(t *testing.T, spare bool) svc.RuntimeSpec {
	t.Helper()
	spec := s.next()
	s.check(t, spec, s.mustServe(spec), spare)
	return spec
}

// next is a version with a variable of its own.
func (s *spared) next() svc.RuntimeSpec {
	s.t.Helper()
	s.n++
	version := fmt.Sprintf("v-%d", s.n)
	spec := s.spec(env, func(m *bundle.Manifest) { m.Vars = map[string]bundle.Var{"OWN": bundle.TextVar("of " + version)} })
	spec.Ref.Version = version
	return spec
}

// check fails unless a version was launched from a spare, or was not, and has its own
// variables and log.
func (s *spared) check(t *testing.T, spec svc.RuntimeSpec, e svc.Endpoint, spare bool) {
	t.Helper()
	version := spec.Ref.Version
	if got := svctest.Wait(t, "the launch", s.launches); got != spare {
		t.Errorf("%s was started from a spare: %t, want %t", version, got, spare)
	}
	_, body, err := get(t.Context(), e.Socket, "/")
	if err != nil || !strings.Contains(body, `"of `+version+`"`) || strings.Count(body, "of v-") != 1 {
		t.Errorf("%s has the variables %s, %v", version, body, err)
	}
	var lines []svc.LogLine
	svctest.Eventually(t, "the log", func() bool { lines = logTail(t, spec, 10); return len(lines) > 0 })
	if len(lines) != 1 || lines[0].Message != "starts" {
		t.Errorf("the log of %s: %+v", version, lines)
	}
}

// spare waits for a spare and returns its host and its workerd.
func (s *spared) spare(t *testing.T) (host, workerd int) {
	t.Helper()
	svctest.Eventually(t, "a spare", func() bool { return s.Spares() == 1 })
	host = s.driver.SparePIDs()[0]
	return host, child(t, host)
}

// child waits until a process has a child and returns it.
func child(t *testing.T, pid int) (child int) {
	t.Helper()
	svctest.Eventually(t, "the workerd of a spare", func() bool {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
		for _, thread := range threads {
			text, _ := os.ReadFile(thread)
			if list := strings.Fields(string(text)); len(list) > 0 {
				child, _ = strconv.Atoi(list[0])
			}
		}
		return child != 0
	})
	return child
}

// TestSpare: from the second start on a version gets a host and a workerd that were ready.
// They are as confined as others, serve that version alone, and end with it.
func TestSpare(t *testing.T) {
	t.Parallel()
	s := startSpared(t)
	host, workerd := s.spare(t)
	spec := s.version(t, true)
	now, _ := s.Runtime(spec.Ref)
	if e := now.Endpoint; e.PID != host || e.WorkerdPID != workerd {
		t.Errorf("host %d and workerd %d, want %d and %d", e.PID, e.WorkerdPID, host, workerd)
	}
	text, err := os.ReadFile(filepath.Join(spec.Local.LogDir, "host.log"))
	if err != nil {
		t.Errorf("the log of the host: %s, %v", text, err)
	}
	confined(t, workerd)
	if err := s.StopVersion(t.Context(), spec.Ref); err != nil {
		t.Error(err)
	}
	awaitExit(t, host, workerd)
	if next, _ := s.spare(t); next == host {
		t.Errorf("host %d waits again", host)
	}
}

// confined fails unless a process has a filter of system calls and no new privileges.
func confined(t *testing.T, pid int) {
	t.Helper()
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"NoNewPrivs:\t1\n", "Seccomp:\t2\n"} {
		if !strings.Contains(string(status), want) {
			t.Errorf("workerd of the spare: no %q in its status", want)
		}
	}
}

// TestSpareLost: a version starts although the host of the spare, or its workerd, was killed
// while it waited.
func TestSpareLost(t *testing.T) {
	t.Parallel()
	s := startSpared(t)
	host, workerd := s.spare(t)
	kill(t, host)
	awaitExit(t, host, workerd)
	s.version(t, false)
	_, workerd = s.spare(t)
	kill(t, workerd)
	awaitExit(t, workerd)
	s.version(t, true) // the host starts another workerd
}

// TestSpareLostInTheClaim: the same for one that is killed while it opens the version.
func TestSpareLostInTheClaim(t *testing.T) {
	t.Parallel()
	s := startSpared(t)
	host, _ := s.spare(t)
	s.killInTheClaim(t, host, false)
	_, workerd := s.spare(t)
	s.killInTheClaim(t, workerd, true) // the host starts another workerd
}

// killInTheClaim stops a process of the spare, has a version claim the spare, and kills the
// process.
func (s *spared) killInTheClaim(t *testing.T, pid int, spare bool) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	type result struct {
		svc.Endpoint
		error
	}
	spec, done := s.next(), make(chan result, 1)
	go func() {
		e, err := s.serve(spec)
		done <- result{e, err}
	}()
	svctest.Eventually(t, "the claim", func() bool { return len(s.driver.SparePIDs()) == 0 })
	kill(t, pid)
	r := svctest.Wait(t, "the version", done)
	if r.error != nil {
		t.Fatal(r.error)
	}
	s.check(t, spec, r.Endpoint, spare)
}
