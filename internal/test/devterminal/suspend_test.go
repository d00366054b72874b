//go:build terminal && linux

package devterminal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestSuspend: Ctrl-Z gives the terminal to the shell while a save starts programs, and fg gives it
// back, keys included, also after bg; a prompt is there again.
func TestSuspend(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.starts()
	for n := 2; n < 10; n++ {
		p.clears()
		p.write("src/index.js", counter(fmt.Sprint("save ", n)))
		p.presses("C-z")
		p.sees(`Stopped +svcctl dev`)
		p.back(148)
		p.enters("fg")
		p.types("?")
		p.sees(`keys: o open`)
	}
	p.serve("save 9 ")
	p.presses("C-z")
	p.back(148)
	p.enters("bg")
	p.serve("save 9 ")
	p.enters("fg")
	p.clears()
	p.types("?")
	p.sees(`keys: o open`)

	p.types("r")
	p.sees(`go back to save .*: *$`)
	p.types("12")
	p.presses("C-z")
	p.back(148)
	p.enters("fg")
	p.sees(`go back to save .*: 12 *$`)
	p.presses("Escape")
	p.types("q")
	p.back(0)
}

// serve waits until the answer of the worker begins with a text.
func (p *person) serve(want string) {
	p.t.Helper()
	svctest.Eventually(p.t, want, func() bool { return strings.HasPrefix(p.gets(), want) })
}
