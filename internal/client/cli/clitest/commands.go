package clitest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
)

const (
	limit  = time.Minute // for what must happen
	glance = 5 * time.Millisecond
)

// await waits for the note of a daemon that runs in the background.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: await")
	}
	late, tick := time.After(limit), time.NewTicker(glance)
	defer tick.Stop()
	for {
		note, err := config.ReadNote(ts.Getenv("SVC_DATA_DIR"))
		if err == nil && slices.ContainsFunc(ts.BackgroundCmds(), func(c *exec.Cmd) bool { return c.Process.Pid == note.PID }) {
			ts.Setenv("API", note.API)
			ts.Setenv("GATEWAY", note.Gateway)
			ts.Setenv("SERVE_PID", strconv.Itoa(note.PID))
			return
		}
		if !slices.ContainsFunc(ts.BackgroundCmds(), func(c *exec.Cmd) bool { return c.Process.Signal(syscall.Signal(0)) == nil }) {
			ts.Fatalf("no daemon runs")
		}
		select {
		case <-tick.C:
		case <-late:
			ts.Fatalf("the daemon does not serve: %v", err)
		}
	}
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARGS...")
	}
	checkExit(ts, args[0], ts.Exec(args[1], args[2:]...))
}

// until runs a command again and again until its stdout matches.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until REGEXP COMMAND ARGS...")
	}
	want := regexp.MustCompile(args[0])
	for late := time.Now().Add(limit); ; {
		ts.Check(ts.Exec(args[1], args[2:]...))
		if want.MatchString(ts.ReadFile("stdout")) {
			return
		}
		if time.Now().After(late) {
			ts.Fatalf("stdout does not match %s", args[0])
		}
	}
}

func checkExit(ts *testscript.TestScript, code string, err error) {
	want, badCode := strconv.Atoi(code)
	ts.Check(badCode)
	got := 0
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		got = ended.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// trigger does something once what is written to it matches.
type trigger struct {
	mu      sync.Mutex
	text    bytes.Buffer
	pattern *regexp.Regexp
	do      func()
}

func (w *trigger) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Write(p)
	if w.do != nil && w.pattern.Match(w.text.Bytes()) {
		w.do()
		w.do = nil
	}
	return len(p), nil
}

func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: interrupt PATTERN CODE COMMAND ARGS...")
	}
	pattern, err := regexp.Compile(args[0])
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), limit) //nolint:forbidigo // scripts have no context
	defer cancel()
	cmd := exec.CommandContext(ctx, args[2], args[3:]...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"HOME", "PATH", "TMPDIR", "SVC_DATA_DIR", "SVCCTL_OUTPUT", "GOCOVERDIR", "GORACE"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	stderr := &trigger{pattern: pattern, do: func() { _ = cmd.Process.Signal(os.Interrupt) }}
	cmd.Stdout, cmd.Stderr = ts.Stdout(), stderr
	err = cmd.Run()
	_, _ = io.Copy(ts.Stderr(), &stderr.text)
	if stderr.do != nil {
		ts.Fatalf("the command ended before it said %q", args[0])
	}
	checkExit(ts, args[1], err)
}

func ask(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: ask URL [NAME:VALUE...]")
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit) //nolint:forbidigo // scripts have no context
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, args[0], nil)
	ts.Check(err)
	for _, header := range args[1:] {
		name, value, _ := strings.Cut(header, ":")
		req.Header.Set(name, value)
	}
	gateway := strings.TrimPrefix(ts.Getenv("GATEWAY"), "http://")
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", gateway)
		},
	}}
	resp, err := client.Do(req)
	ts.Check(err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	ts.Check(err)
	_, err = fmt.Fprintf(ts.Stdout(), "%d %s\n%s\n", resp.StatusCode, resp.Header.Get("Svc-Version"), body)
	ts.Check(err)
}

func sqlite(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sqlite FILE SQL")
	}
	c, err := raw.Open(ts.MkAbs(args[0]), raw.Options{})
	ts.Check(err)
	ts.Check(errors.Join(c.Script(args[1]), c.Close()))
}
