package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/program/serve"
)

var (
	fence = regexp.MustCompile("(?ms)^ *```([a-z]*)\n(.*?)^ *```")
	span  = regexp.MustCompile("`(svc(?:ctl|d) [^`]+)`")
	// line is a line of a shell that runs one of the programs.
	line = regexp.MustCompile(`^(?:\$ |- run: |\s+run: |\s+- run: )?(?:sudo |[A-Z_]+=\S+ |.* \| )*(svc(?:ctl|d) .*)`)
)

// TestActionsArePinned: the workflows to copy name a release, whose content does not change.
func TestActionsArePinned(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/guide/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	branch := regexp.MustCompile(`uses: \S+@(?:main|master)|svcctl/svcctl/main/`)
	if found := branch.FindAllString(string(text), -1); len(found) > 0 {
		t.Errorf("%q", found)
	}
}

// TestDocs: every command line in the documentation is one that the programs know, with its
// flags and its number of arguments. A mention within a sentence may leave some out.
func TestDocs(t *testing.T) {
	t.Parallel()
	var files []string
	for _, pattern := range []string{"README.md", "docs/start/*.md", "docs/guide/*.md", "docs/checklists/*.md", "docs/monitoring/*.yaml", "examples/*/README.md", "bench/README.md"} {
		found, err := filepath.Glob(filepath.Join("../../..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	lines := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range fence.FindAllStringSubmatch(string(text), -1) {
			for _, command := range shellLines(block[1], block[2]) {
				lines++
				if err := understood(words(command), true); err != nil {
					t.Errorf("%s: %s: %v", filepath.Base(file), command, err)
				}
			}
		}
		for _, mention := range span.FindAllStringSubmatch(fence.ReplaceAllString(string(text), ""), -1) {
			lines++
			if err := understood(words(mention[1]), false); err != nil {
				t.Errorf("%s: %s: %v", filepath.Base(file), mention[1], err)
			}
		}
	}
	if lines < 150 {
		t.Errorf("only %d command lines were found", lines)
	}
}

// TestDocsFinds: what TestDocs takes for an error.
func TestDocsFinds(t *testing.T) {
	t.Parallel()
	for command, whole := range map[string]bool{
		"svcctl frobnicate": false, "svcctl versions frobnicate shop/v1": false, "svcctl queues list|frobnicate": false, "svcctl deploy --frobnicate": false,
		"svcctl versions get": true, "svcctl deploy --version": true, "svcctl tls list now # a comment": true, "svcd frobnicate": true,
	} {
		if err := understood(words(command), whole); err == nil {
			t.Errorf("%s is understood", command)
		}
	}
	got := words(`svcctl d1 execute shop/v7 --command "select 'a b'" > out.txt # all`)
	if want := []string{"svcctl", "d1", "execute", "shop/v7", "--command", "select 'a b'"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := shellLines("console", "$ sudo svcctl a\nsvcctl b\n"); !slices.Equal(got, []string{"svcctl a"}) {
		t.Errorf("%q", got)
	}
}

// shellLines returns the command lines of a block. In a console they follow a prompt, and the
// rest is output.
func shellLines(language, block string) (commands []string) {
	for one := range strings.SplitSeq(strings.ReplaceAll(block, "\\\n", " "), "\n") {
		if strings.HasPrefix(language, "console") && !strings.HasPrefix(one, "$ ") {
			continue
		}
		if found := line.FindStringSubmatch(one); found != nil {
			commands = append(commands, found[1])
		}
	}
	return commands
}

// words splits a command line as a shell does, up to a comment, a pipe or a redirection.
func words(command string) (list []string) {
	word, quote, begun := "", rune(0), false
	for _, c := range command + " " {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, begun = c, true
		case quote != 0 || !strings.ContainsRune(" \t", c):
			word, begun = word+string(c), true
		case begun && (strings.HasPrefix(word, "#") || word == "|" || word == "&" || word == "&&" || strings.HasPrefix(word, ">")):
			return list
		case begun:
			list, word, begun = append(list, word), "", false
		}
	}
	return list
}

// understood parses a command line. a|b|c stands for several commands.
func understood(args []string, whole bool) error {
	for i, word := range args[1:] {
		if strings.Contains(word, "|") && !strings.HasPrefix(args[i], "-") {
			var errs []error
			for one := range strings.SplitSeq(word, "|") {
				some := append(append([]string{}, args[:i+1]...), one)
				errs = append(errs, understood(append(some, args[i+2:]...), whole))
			}
			return errors.Join(errs...)
		}
	}
	k := &kit.Kit{Dir: "/"}
	root := New(k, forms())
	if args[0] == "svcd" {
		root = serve.NewDaemon(k)
	}
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd(args[1:]...)
	cmd, rest, err := root.Find(args[1:])
	if err != nil {
		return err
	}
	return parsed(cmd, rest, whole)
}

func parsed(cmd *cobra.Command, args []string, whole bool) error {
	if cmd.HasSubCommands() && (cmd.Args == nil || !cmd.Runnable()) && len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		return fmt.Errorf("%s has no command %s", cmd.CommandPath(), args[0])
	}
	cmd.InitDefaultHelpFlag()
	err := cmd.ParseFlags(args)
	if _, incomplete := errors.AsType[*pflag.ValueRequiredError](err); err != nil && (whole || !incomplete) {
		return err
	}
	if !whole || !cmd.Runnable() {
		return nil
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}
