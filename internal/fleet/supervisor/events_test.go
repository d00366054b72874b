package supervisor_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/host/binding/bindingtest"
	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// of is the worker of one version.
type of struct {
	*harness
	ref svc.Ref
}

func (w of) Dispatch(ctx context.Context, e svc.Event) (svc.EventResult, error) {
	return w.Supervisor.Dispatch(ctx, w.ref, e)
}

// TestDoor runs the conformance suite of events through daemon, host and workerd.
func TestDoor(t *testing.T) {
	t.Parallel()
	bindingtest.Door(t, func(t *testing.T, source string) bindingtest.Running {
		h := start(t, func(c *options) { c.Grace = 2 * time.Second })
		spec := h.spec(source, nil)
		e := h.mustServe(spec)
		return bindingtest.Running{
			Worker: of{h, spec.Ref}, Remote: true,
			Kill: func() { kill(t, e.WorkerdPID) },
			Stop: func(time.Duration) {
				if err := h.StopVersion(t.Context(), spec.Ref); err != nil {
					t.Error(err)
				}
			},
			Post: func(path, _ string) string {
				_, body, err := get(t.Context(), e.Socket, path)
				if err != nil {
					t.Error(err)
				}
				return body
			},
		}
	})
}

const eventScript = `export default { async scheduled(c) {
	console.log("begin", c.cron);
	if (c.cron === "loop") for (;;);
	if (c.cron === "wait") await scheduler.wait(600_000);
	if (c.cron === "throw") throw new Error("boom");
} }`

func scheduled(cron string) svc.Event {
	return svc.Event{Scheduled: &svc.Scheduled{Cron: cron, Time: time.Now()}}
}

// TestEventLog: lines, exceptions and outcomes of events are in the worker's log.
func TestEventLog(t *testing.T) {
	t.Parallel()
	h := start(t, nil)
	spec := h.spec(eventScript, nil)
	h.mustServe(spec)
	for _, cron := range []string{"* * * * *", "throw"} {
		if _, err := h.Dispatch(t.Context(), spec.Ref, scheduled(cron)); err != nil {
			t.Error(err)
		}
	}
	want := []string{
		"console begin * * * * *", `event scheduled "* * * * *": ok after`,
		"console begin throw", "exception Error: boom", `event scheduled "throw": exception after`,
	}
	var lines []svc.LogLine
	svctest.Eventually(t, "the log", func() bool {
		lines = logTail(t, spec, 100)
		return len(lines) >= len(want)
	})
	if len(lines) != len(want) {
		t.Fatalf("%+v", lines)
	}
	for i, l := range lines {
		if !strings.HasPrefix(l.Source+" "+l.Message, want[i]) || l.Time.IsZero() || (l.Level == "error") != (i >= 3) {
			t.Errorf("line %d is %+v, want %s", i, l, want[i])
		}
	}
	if w, err := h.NextWake(t.Context(), spec.Ref); err != nil || w.Pending != 0 || !w.At.IsZero() {
		t.Errorf("wakes %+v, %v", w, err)
	}
}

// TestEventInALoop: the supervisor kills a worker that answers no ping, which ends the
// event.
func TestEventInALoop(t *testing.T) {
	t.Parallel()
	h := start(t, func(c *options) { c.PingEvery, c.PingTimeout = 50*time.Millisecond, 4*time.Second })
	spec := h.spec(eventScript, nil)
	h.mustServe(spec)
	r, err := h.Dispatch(t.Context(), spec.Ref, scheduled("loop"))
	if err != nil || r.Outcome != svc.OutcomeExited || r.Error.Message != "unresponsive: the worker answered no ping for 4s and was killed" {
		t.Errorf("%+v, %v", r, err)
	}
	svctest.Succeeds(t, "another event", func() error {
		r, err := h.Dispatch(t.Context(), spec.Ref, scheduled("after it"))
		if err == nil && r.Outcome != svc.OutcomeOK {
			err = fmt.Errorf("%+v", r)
		}
		return err
	})
}

// TestEventOfAKilledHost: the event ends although its host returns no result.
func TestEventOfAKilledHost(t *testing.T) {
	t.Parallel()
	h := start(t, nil)
	spec := h.spec(eventScript, nil)
	e := h.mustServe(spec)
	result := make(chan svc.EventResult, 1)
	go func() {
		r, err := h.Dispatch(t.Context(), spec.Ref, scheduled("wait"))
		if err != nil {
			t.Error(err)
		}
		result <- r
	}()
	svctest.Eventually(t, "the event to begin", func() bool {
		return len(logTail(t, spec, 1)) == 1
	})
	kill(t, e.PID)
	if r := svctest.Wait(t, "the result", result); r.Outcome != svc.OutcomeExited || !strings.Contains(r.Error.Message, "host_exited") {
		t.Errorf("%+v", r)
	}
}

func TestEventsNeedARuntime(t *testing.T) {
	t.Parallel()
	h := start(t, nil)
	ref := svc.Ref{Project: "shop", Version: "none"}
	_, err := h.Dispatch(t.Context(), ref, scheduled(""))
	_, wakeErr := h.NextWake(t.Context(), ref)
	if !errors.Is(err, svc.Unavailable) || !errors.Is(wakeErr, svc.Unavailable) {
		t.Errorf("%v, %v", err, wakeErr)
	}
	if err := h.Arm(t.Context(), ref, svc.Arming{Crons: true, Events: true}); err != nil {
		t.Error(err)
	}
}

// armedHost is a worker host that records calls of Arm.
type armedHost struct {
	control.Handler // nil: only the verbs below are called

	log *os.File
}

func (h *armedHost) Open(_ context.Context, s svc.RuntimeSpec) (err error) {
	h.log, err = os.OpenFile(filepath.Join(s.Local.LogDir, "armed"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err == nil && s.ReadOnly {
		_, err = h.log.WriteString("R")
	}
	return err
}

func (h *armedHost) ReadOnly(_ context.Context, on bool) error {
	_, err := h.log.WriteString(map[bool]string{true: "r", false: "w"}[on])
	return err
}

func (h *armedHost) Arm(_ context.Context, armed bool) error {
	_, err := h.log.WriteString(map[bool]string{true: "+", false: "-"}[armed])
	return err
}

func (h *armedHost) Events(_ context.Context, on bool) error {
	_, err := h.log.WriteString(map[bool]string{true: "e", false: "o"}[on])
	return err
}

func (*armedHost) Serve(context.Context) (svc.Endpoint, error) { return svc.Endpoint{}, nil }
func (*armedHost) Ping(context.Context) (control.Pong, error)  { return control.Pong{}, nil }
func (*armedHost) Stop(context.Context, control.Stop) (svc.Wake, error) {
	os.Exit(0)
	return svc.Wake{}, nil
}

func runArmedHost(ctx context.Context, _ []string) error {
	conn, err := control.Inherited()
	if err != nil {
		return err
	}
	return control.NewServer(conn, slog.New(slog.DiscardHandler)).Serve(ctx, &armedHost{})
}

// TestArm: a host is armed or disarmed on each change, and each host after a crash gets
// the state of its version.
func TestArm(t *testing.T) {
	t.Parallel()
	h := start(t, func(c *options) { c.HostCommand = svctest.Command("armed-host") })
	spec := h.spec(hello, nil)
	e := h.mustServe(spec)
	arms := func(want string) {
		t.Helper()
		if got, err := os.ReadFile(filepath.Join(spec.Local.LogDir, "armed")); err != nil || string(got) != want {
			t.Errorf("the calls of Arm are %q, %v, want %q", got, err, want)
		}
	}
	arm := func(states ...bool) {
		t.Helper()
		for _, armed := range states {
			if err := h.Arm(t.Context(), spec.Ref, svc.Arming{Crons: armed, Events: true}); err != nil {
				t.Error(err)
			}
		}
	}
	events := func(on bool) {
		t.Helper()
		if err := h.Arm(t.Context(), spec.Ref, svc.Arming{Events: on}); err != nil {
			t.Error(err)
		}
	}
	arm(false, true, true)
	arms("+")
	kill(t, e.PID)
	e = h.await(svc.RuntimeServing, 2)
	arms("++")
	arm(false, false)
	arms("++-")
	kill(t, e.PID)
	e = h.await(svc.RuntimeServing, 3)
	arms("++-")
	events(false)
	arms("++-o")
	kill(t, e.PID)
	h.await(svc.RuntimeServing, 4)
	arms("++-oo")
	events(true)
	arms("++-ooe")
}
