//go:build terminal && linux

package devterminal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestKeys: the keys of watch mode, from the list of keys to the end.
func TestKeys(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.starts()
	p.serves("one 1")
	p.sees(`GET / 200`)
	p.clears()
	p.types("?")
	p.sees(`keys: o open   r rewind   x restart .*`)

	p.types("o")
	svctest.Eventually(t, "the browser", func() bool {
		text, err := os.ReadFile(filepath.Join(p.home, "opened"))
		return err == nil && string(text) == "opened "+p.address+"\n"
	})

	p.types("l")
	p.sees(`log level: errors only`)
	p.serves("one 2")
	p.types("ll")
	p.sees(`log level: all requests and log lines`)
	if strings.Contains(p.screen(), "GET / 200") {
		t.Error("a request is shown at the level errors only")
	}
	p.serves("one 3")
	p.sees(`GET / 200`)
	p.types("c")
	p.sees(`^counter dev   http://localhost:\d+\n`)
	p.types("x")
	p.sees(`save 2  restart  ready`)
	p.types("q")
	p.back(0)
}

// TestRewind: a list of saves, code and data of one, the data alone, and none.
func TestRewind(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.starts()
	p.serves("one 1")
	p.write("src/index.js", counter("two"))
	p.sees(`save 2  src/index\.js .*ready`)
	p.serves("two 2")
	p.types("r")
	p.sees(`^ +1  .*first build\n\* +2  .*src/index\.js\ngo back to save .*: *$`)
	p.enters("1")
	p.sees(`save 3  back to save 1  ready`)
	p.serves("one 2")
	p.types("r")
	p.sees(`\* +3  .*\ngo back to save .*: *$`)
	p.enters("2 d")
	p.sees(`save 4  data of save 2  ready`)
	p.serves("one 3")
	p.types("r")
	p.sees(`\* +4  .*\ngo back to save .*: *$`)
	p.clears()
	p.types("4")
	p.serves("one 4")
	p.presses("Escape")
	p.sees(`GET / 200`) // was held back
	p.types("q")
	p.back(0)
}

// TestBrokenBuild: the terminal shows the file and the line, and the version before serves.
func TestBrokenBuild(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.starts()
	p.write("src/index.js", "export default {\n  fetch( { }\n}\n")
	p.sees(`the worker does not build\n +src/index\.js:\d:\d+: Expected`)
	p.sees(`^ +3 \| \}`)
	p.sees(`still serving save 1 of`)
	p.serves("one 1")
	p.write("src/index.js", counter("two"))
	p.sees(`save 2 .*ready`)
	p.serves("two 2")
	p.write("src/index.js", counter("three")+"\nthrow new Error('not today');\n")
	p.sees(`not today`)
	p.sees(`src/index\.js:7`)
	p.sees(`still serving save 2 of`)
	p.serves("two 3")
	p.types("q")
	p.back(0)
}

// TestResize: the list of keys fits the terminal, whatever its size, and nothing is lost.
func TestResize(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.starts()
	p.resizes(60, 20)
	p.clears()
	p.answers("h", `^keys: o open   r rewind   x restart   t run cron\n {6}s send to queue`)
	p.resizes(200, 50)
	p.clears()
	p.answers("h", `^keys: o open .* q quit *$`)
	p.resizes(20, 5)
	p.write("src/index.js", counter("two"))
	p.sees(`save 2`)
	p.serves("two 1")
	p.resizes(100, 30)
	p.types("q")
	p.back(0)
}

// TestCtrlC: Ctrl-C ends watch mode while it serves and while it asks, and leaves nothing running.
func TestCtrlC(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.starts()
	p.presses("C-c")
	p.back(0)
	p.clears()
	p.enters("svcctl dev --port 0")
	p.sees(`save \d .*ready`)
	p.types("r")
	p.sees(`go back to save .*: *$`)
	p.types("1")
	p.presses("C-c")
	p.back(0)
	svctest.Eventually(t, "the end of what watch mode started", func() bool { return p.processes() == 1 }) // the shell
}
