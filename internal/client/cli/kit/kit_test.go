package kit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

func newKit(t *testing.T, env ...string) (k *kit.Kit, out, errs *bytes.Buffer) {
	t.Helper()
	out, errs = &bytes.Buffer{}, &bytes.Buffer{}
	return &kit.Kit{Streams: kit.Streams{Out: out, Err: errs}, Environ: append(env, "HOME="+t.TempDir()), Dir: t.TempDir()}, out, errs
}

func TestExitCode(t *testing.T) {
	t.Parallel()
	k, _, _ := newKit(t, "SVCCTL_SERVER=https://deploy.example.com")
	_, noToken := k.Client()
	for name, tc := range map[string]struct {
		err  error
		want int
	}{
		"none":          {nil, kit.ExitOK},
		"usage":         {fmt.Errorf("x: %w", kit.Usagef("no")), kit.ExitUsage},
		"no token":      {noToken, kit.ExitAuth},
		"unauthorized":  {&client.Error{Status: http.StatusUnauthorized}, kit.ExitAuth},
		"forbidden":     {&client.Error{Status: http.StatusForbidden}, kit.ExitAuth},
		"not found":     {&client.Error{Status: http.StatusNotFound}, kit.ExitNotFound},
		"gone":          {&client.Error{Status: http.StatusGone}, kit.ExitNotFound},
		"conflict":      {&client.Error{Status: http.StatusConflict}, kit.ExitConflict},
		"precondition":  {&client.Error{Status: http.StatusPreconditionFailed}, kit.ExitConflict},
		"no parent":     {refusedWith(http.StatusUnprocessableEntity, "fork_of_production"), kit.ExitUsage},
		"queue full":    {refusedWith(http.StatusServiceUnavailable, "queue_full"), kit.ExitBusy},
		"leaves writes": {refusedWith(http.StatusConflict, "promote_leaves_writes"), kit.ExitLeaves},
		"not accepted":  {&kit.LeavesError{Text: "x"}, kit.ExitLeaves},
		"busy release":  {&client.PromotionError{Promotion: api.Promotion{Error: "drain: release_busy: x"}}, kit.ExitBusy},
		"bad release":   {&client.PromotionError{Promotion: api.Promotion{Error: "check: release_check_failed: x"}}, kit.ExitFailure},
		"stopping":      {refusedWith(http.StatusServiceUnavailable, "shutting_down"), kit.ExitBusy},
		"slow":          {refusedWith(http.StatusServiceUnavailable, "timeout"), kit.ExitBusy},
		"restarting":    {refusedWith(http.StatusServiceUnavailable, "runtime_unavailable"), kit.ExitBusy},
		"a proxy":       {refusedWith(http.StatusServiceUnavailable, ""), kit.ExitBusy},
		"too many":      {refusedWith(http.StatusTooManyRequests, ""), kit.ExitBusy},
		"not woken":     {refusedWith(http.StatusServiceUnavailable, "wake_failed"), kit.ExitFailure},
		"not sealed":    {refusedWith(http.StatusServiceUnavailable, "archive_incomplete"), kit.ExitFailure},
		"unreachable":   {fmt.Errorf("x: %w", client.ErrUnreachable), kit.ExitBusy},
		"failed":        {&client.VersionError{Version: api.Version{Status: api.VersionStatusFailed}}, kit.ExitFailed},
		"asleep again":  {&client.VersionError{Version: api.Version{Status: api.VersionStatusArchived}}, kit.ExitFailure},
		"destroyed":     {&client.VersionError{Version: api.Version{Status: api.VersionStatusDestroyed}}, kit.ExitFailure},
		"late":          {&kit.TimeoutError{Text: "late"}, kit.ExitTimeout},
		"interrupted":   {fmt.Errorf("x: %w", context.Canceled), kit.ExitInterrupted},
		"not there":     {fmt.Errorf("x: %w", svc.Errorf(svc.NotFound, "workerd_not_installed", "x")), kit.ExitNotFound},
		"in use":        {svc.Errorf(svc.Conflict, "data_dir_in_use", "x"), kit.ExitConflict},
		"refused":       {svc.Errorf(svc.Unprocessable, "config_unsupported", "x"), kit.ExitFailure},
		"other":         {errors.New("x"), kit.ExitFailure},
	} {
		if got := kit.ExitCode(tc.err); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
}

func refusedWith(status int, code string) error {
	return fmt.Errorf("x: %w", &client.Error{Status: status, Problem: api.Problem{Code: code}})
}

func TestFail(t *testing.T) {
	t.Parallel()
	wrong := svc.Invalid([]svc.FieldError{{Pointer: "/a", Code: "a_bad", Detail: "a is bad"}, {Pointer: "/b", Code: "b_bad", Detail: "b is bad"}})
	k, out, errs := newKit(t)
	if code := k.Fail(wrong); code != kit.ExitFailure {
		t.Errorf("exit %d", code)
	}
	if want := "Error: 2 fields are invalid\n  a is bad\n  b is bad\n"; errs.String() != want || out.Len() > 0 {
		t.Errorf("printed %q and %q, want %q", out, errs, want)
	}
	k, out, errs = newKit(t, "SVCCTL_OUTPUT=json")
	k.Fail(wrong)
	var p api.Problem
	if err := json.Unmarshal(errs.Bytes(), &p); err != nil || p.Code != "a_bad" || len(p.Errors) != 2 || out.Len() > 0 {
		t.Errorf("in JSON mode: %q, %v", errs, err)
	}
	for text, err := range map[string]error{
		"Error: interrupted\n":                                &url.Error{Op: "Get", URL: "http://x/v1/projects", Err: context.Canceled},
		"Error: interrupted: reading the log\n":               fmt.Errorf("reading the log: %w", context.Canceled),
		"Error: web: stopped waiting; the deploy continues\n": fmt.Errorf("web: %w", &kit.InterruptedError{Text: "stopped waiting; the deploy continues"}),
	} {
		k, _, errs := newKit(t)
		if code := k.Fail(err); errs.String() != text || code != kit.ExitInterrupted {
			t.Errorf("%v: %q, exit %d", err, errs, code)
		}
	}
	k, _, errs = newKit(t)
	k.Fail(errors.New("red \x1b[31malert\x07"))
	if strings.ContainsAny(errs.String(), "\x1b\x07") {
		t.Errorf("control characters reached the terminal: %q", errs)
	}
}

func TestProblemCodes(t *testing.T) {
	t.Parallel()
	k, _, _ := newKit(t, "SVCCTL_SERVER=https://deploy.example.com")
	_, noToken := k.Client()
	for want, err := range map[string]error{
		"usage": kit.Usagef("no"), "no_token": noToken, "timeout": &kit.TimeoutError{}, "unreachable": fmt.Errorf("x: %w", client.ErrUnreachable),
		"version_failed": &client.VersionError{Version: api.Version{Status: api.VersionStatusFailed}}, "promote_failed": &client.PromotionError{},
		"interrupted": fmt.Errorf("x: %w", context.Canceled), "entry_missing": svc.Errorf(svc.Unprocessable, "entry_missing", "x"),
		"queue_full": &client.Error{Problem: api.Problem{Code: "queue_full"}}, "failed": errors.New("x"),
	} {
		k, _, errs := newKit(t, "SVCCTL_OUTPUT=json")
		k.Fail(err)
		var p api.Problem
		if err := json.Unmarshal(errs.Bytes(), &p); err != nil || p.Code != want {
			t.Errorf("%q, want %q: %v", p.Code, want, err)
		}
		if _, refused := errors.AsType[*client.Error](err); !refused && (p.Type != "urn:svcctl:problem:"+want || p.Title == "" || p.Status < 400) {
			t.Errorf("%s: type %q, title %q, status %d", want, p.Type, p.Title, p.Status)
		}
	}
}

func TestOutput(t *testing.T) {
	t.Parallel()
	k, out, _ := newKit(t)
	k.Table([]string{"A", "LONG"}, [][]string{{"1", "x"}, {"wide one", "y\x1b[2J"}})
	if want := "A         LONG\n1         x\nwide one  y[2J\n"; out.String() != want {
		t.Errorf("table %q, want %q", out, want)
	}
	out.Reset()
	k.OutTTY = true
	k.Table([]string{"ID", "STATUS"}, [][]string{{"ready", "ready"}, {"é", "odd"}})
	if want := "ID     STATUS\nready  \x1b[32mready\x1b[0m\né      odd\n"; out.String() != want {
		t.Errorf("table on a terminal %q, want %q", out, want)
	}
	k.Output = "toml"
	if err := k.CheckOutput(); kit.ExitCode(err) != kit.ExitUsage {
		t.Errorf("an unknown format: %v", err)
	}
}

func TestProgressWithoutTerminal(t *testing.T) {
	t.Parallel()
	k, _, errs := newKit(t)
	p := k.NewProgress()
	p.Stage("one")
	p.Bytes(1, 2)
	p.Stage("one")
	p.Stage("two")
	p.Done("note")
	p.Stage("three")
	p.Abort()
	lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "one (") || !strings.HasPrefix(lines[1], "two (") || !strings.HasSuffix(lines[1], ": note") {
		t.Errorf("printed %q", lines)
	}
}

func TestProgressOnATerminal(t *testing.T) {
	t.Parallel()
	k, _, errs := newKit(t, "TERM=xterm")
	k.ErrTTY = true
	p := k.NewProgress()
	p.Stage("uploading")
	p.Bytes(512, 1024)
	p.Bytes(1024, 1024)
	p.Done("")
	if got := errs.String(); !strings.Contains(got, "\r\x1b[Kuploading 1.0 KiB of 1.0 KiB") {
		t.Errorf("drew %q", got)
	}
	errs.Reset()
	p.Stage("packing")
	k.Notef("created project shop")
	p.Abort()
	if got, want := errs.String(), "\r\x1b[Kpacking ...\r\x1b[Kcreated project shop\n\r\x1b[Kpacking ...\r\x1b[K"; got != want {
		t.Errorf("with a note: %q, want %q", got, want)
	}
	k, _, errs = newKit(t, "TERM=xterm", "CI=true")
	k.ErrTTY = true
	k.NewProgress().Stage("quiet")
	if errs.Len() > 0 {
		t.Errorf("in CI it drew %q", errs)
	}
}
