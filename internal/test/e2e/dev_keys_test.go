//go:build e2e && linux

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// startInTerminal starts watch mode as the foreground program of a terminal.
func (d *developer) startInTerminal(args ...string) *svctest.Terminal {
	d.t.Helper()
	d.cmd = exec.Command(program(), append([]string{"dev", "--port", "0"}, args...)...)
	d.cmd.Dir, d.cmd.Env = d.dir, append(d.env, "TERM=xterm")
	d.out, d.read, d.exited = &svctest.Buffer{}, 0, make(chan struct{})
	term := svctest.InTerminal(d.t, d.cmd, d.out)
	go func(cmd *exec.Cmd, exited chan struct{}) { _ = cmd.Wait(); close(exited) }(d.cmd, d.exited)
	d.address = d.await(`dev   \S*(http://localhost:\d+)`)[1]
	return term
}

// The keys in a terminal: rewind, restart, cron, a message, log level, open, and the end.
func TestDevKeys(t *testing.T) {
	t.Parallel()
	files := counterFiles()
	withHandlers := func(name string) string {
		return strings.Replace(counter(name), "export default {", `export default { scheduled(c) { console.log("due " + c.cron) },
  queue(batch) { for (const m of batch.messages) console.log("got " + m.body.text) },`, 1)
	}
	files["src/index.js"] = withHandlers("one")
	files["wrangler.jsonc"] = strings.Replace(files["wrangler.jsonc"], "{", `{ "triggers": { "crons": ["0 3 * * *"] }, "queues": { "producers": [{ "binding": "A", "queue": "jobs" }, { "binding": "B", "queue": "others" }],
	  "consumers": [{ "queue": "jobs", "max_batch_timeout": 0 }] },`, 1)
	d := newDeveloper(t, files)
	opened := filepath.Join(d.home, "opened")
	script := filepath.Join(d.home, "browser.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho \"$1\" > "+opened+".tmp && mv "+opened+".tmp "+opened+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	d.env = append(d.env, "BROWSER="+script)
	term := d.startInTerminal()
	d.await(`keys: o open   r rewind`)
	d.await(`save 1 `)
	d.expect("/", "one 1")
	d.write("src/index.js", counter("two"))
	d.await(`save 2 `)
	d.expect("/", "two 2")

	term.Press("o")
	svctest.Eventually(t, "the browser", func() bool {
		url, err := os.ReadFile(opened)
		return err == nil && string(url) == d.address+"\n"
	})

	term.Press("u")
	d.await(`the server runs in this command`)

	// Code and data of the first save, then data alone, then a choice that is no save, and none.
	term.Press("r")
	d.await(`  +1  .*first build\n\*  +2  .*src/index.js\ngo back to save .*: $`)
	term.Press("9\x7f1\n")
	d.await(`save 3  back to save 1  ready`)
	d.expect("/", "one 2")
	term.Press("r")
	d.await(`go back to save`)
	term.Press("2 d\n")
	d.await(`save 4  data of save 2  ready`)
	d.expect("/", "one 3")
	term.Press("r")
	d.await(`go back to save`)
	term.Press("77\n")
	d.await(`save 77 is not in the list`)
	term.Press("r")
	d.await(`go back to save`)
	d.expect("/", "one 4") // while the prompt is open
	term.Press("\x1b")
	d.await(`GET / 200`) // was held back

	term.Press("x")
	d.await(`save 5  restart  ready`)
	d.expect("/", "one 5")
	term.Press("t")
	d.await(`(?s)due 0 3 \* \* \*.*cron 0 3 \* \* \*: ok after \d|cron 0 3 \* \* \*: ok after \d.*due 0 3`) // in either order
	d.expect("/__scheduled?cron=*+*+*+*+*", "ok\n")
	term.Press("s")
	d.await(`queue \(jobs, others; Esc: none\): $`)
	term.Press("jobs\n")
	d.await(`message for jobs \(JSON; Esc: none\): $`)
	term.Press("{\"text\": \"hi\"}\n")
	d.await(`(?s)sent to jobs: message \S+.*got hi|got hi.*sent to jobs: message \S+`) // in either order
	term.Press("l")
	d.await(`log level: errors only`)
	d.expect("/", "one 6")
	term.Press("ll")
	d.await(`log level: no requests and log lines\n.*log level: all requests and log lines`)
	term.Press("h")
	d.await(`keys:\n  o  open the address in a browser\n  r  go back`)
	term.Press("zZ")
	d.await(`this key does nothing; h explains the keys`)
	term.Press("c")
	d.await("\x1b\\[2J")

	// The files are built at the next save.
	d.write("src/index.js", withHandlers("three"))
	d.await(`save 6 `)
	d.expect("/", "three 7")
	term.Press("q")
	svctest.Wait(t, "the end of watch mode", d.exited)
	if code := d.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d", code)
	}

	// The version of the session before still starts.
	d.start()
	d.await(`save \d+  unchanged since`)
	d.expect("/cdn-cgi/handler/scheduled", "ok\n")
	if code := d.interrupt(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// Ctrl-C in a terminal ends watch mode and everything that it has started.
func TestDevCtrlC(t *testing.T) {
	t.Parallel()
	d := newDeveloper(t, counterFiles())
	term := d.startInTerminal()
	d.await(`save 1 `)
	term.Press("\x03")
	svctest.Wait(t, "the end of watch mode", d.exited)
	if code := d.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	svctest.Eventually(t, "the end of all processes", func() bool { return !processIn(d.home) })
}

// A terminal that changes its size, a broken build in it, and Ctrl-C while an answer is typed:
// the program asks the terminal nothing, and leaves it as it was.
func TestDevTerminal(t *testing.T) {
	t.Parallel()
	d := newDeveloper(t, counterFiles())
	term := d.startInTerminal()
	d.await(`save 1 `)
	if term.Edits() {
		t.Error("keys wait for the end of a line")
	}
	term.Resize(60, 20)
	term.Press("h")
	d.await(`keys:\n  o  open the address in a browser\n`)
	term.Resize(200, 50)
	term.Press("h")
	d.await(`keys:\n(?s:.*)  q  quit`)

	d.write("src/index.js", "export default { fetch( { } }")
	d.await(`the worker does not build\n +src/index.js:1:\d+: Expected`)
	d.await(`still serving save 1 of`)
	d.expect("/", "one 1")
	d.write("src/index.js", counter("two"))
	d.await(`save 2 `)
	d.expect("/", "two 2")

	term.Press("r")
	d.await(`go back to save .*: $`)
	term.Resize(40, 10)
	term.Press("12")
	d.await(`12$`)
	term.Press("\x03")
	svctest.Wait(t, "the end of watch mode", d.exited)
	if code := d.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if !term.Edits() {
		t.Error("the terminal is not restored")
	}
	// A request that was held back may follow the line.
	svctest.Eventually(t, "the end of the line of the prompt", func() bool { return strings.Contains(d.out.String(), ": 12\n") })
	if i := strings.Index(d.out.String(), "\x1b]"); i >= 0 {
		t.Errorf("the terminal is asked: %q", d.out.String()[i:])
	}
}
