//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// block is a block of a shell in the documentation. The comment before it says how it is run:
//
//	<!-- doctest: SESSION -->                           all of it
//	<!-- doctest: SESSION, but not: COMMAND|COMMAND: REASON --> all but the lines that begin with a COMMAND
//	<!-- doctest: not run: REASON -->                   none of it
type block struct {
	at      string // file and line
	session string // "" if it is not run
	lines   []string
	output  []string // what it prints, as far as the documentation shows it
}

var (
	docsFence  = regexp.MustCompile("(?ms)^( *)```(sh|console)\n(.*?)^ *```")
	docsMarker = regexp.MustCompile(`<!-- doctest: (?:not run: (.{10,})|([a-z]+)(?:, but not: (.+): (.{10,}))?) -->`)
	otherShell = regexp.MustCompile("(?m)^ *```\n *(?:\\$ |svc(?:ctl|d) [^ ])")
)

// docsBlocks returns the blocks of the README, the first pages and the guides, and fails for those that say
// nothing.
func docsBlocks(t *testing.T) (blocks []block) {
	t.Helper()
	files, err := filepath.Glob("../../../docs/guide/*.md")
	if err != nil || len(files) < 20 {
		t.Fatal(files, err)
	}
	start, err := filepath.Glob("../../../docs/start/*.md")
	if err != nil || len(start) < 5 {
		t.Fatal(start, err)
	}
	for _, file := range append(append([]string{"../../../README.md"}, start...), files...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, blocksOf(t, strings.TrimPrefix(file, "../../../"), string(text))...)
	}
	return blocks
}

func blocksOf(t *testing.T, name, text string) (blocks []block) {
	t.Helper()
	if hidden := otherShell.FindString(text); hidden != "" {
		t.Errorf("%s: a block of commands has no language, sh or console: %s", name, hidden)
	}
	end := 0
	for _, at := range docsFence.FindAllStringSubmatchIndex(text, -1) {
		b := block{at: name + ":" + strconv.Itoa(1+strings.Count(text[:at[0]], "\n"))}
		markers := docsMarker.FindAllStringSubmatch(text[end:at[0]], -1)
		end = at[1]
		if len(markers) == 0 {
			t.Errorf("%s: no comment <!-- doctest: … --> says how a test runs this block", b.at)
			continue
		}
		marker := markers[len(markers)-1]
		if b.session = marker[2]; b.session != "" {
			b.split(text[at[4]:at[5]] == "console", text[at[6]:at[7]], marker[3])
			blocks = append(blocks, b)
		}
	}
	return blocks
}

// split tells commands from output. In a console, commands follow a prompt.
func (b *block) split(console bool, text, without string) {
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\\\n", " "), "\n") {
		command, prompt := strings.CutPrefix(strings.TrimSpace(line), "$ ")
		switch {
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "# "):
		case console && !prompt:
			b.output = append(b.output, line)
		case !beginsWithOne(command, without):
			b.lines = append(b.lines, command)
		}
	}
}

// beginsWithOne reports whether a command begins with one of several, separated by |.
func beginsWithOne(command, several string) bool {
	return several != "" && slices.ContainsFunc(strings.Split(several, "|"), func(one string) bool { return strings.HasPrefix(command, one) })
}
