package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/svcctl/svcctl/internal/client/cli"
	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/program"
	"github.com/svcctl/svcctl/internal/program/serve"
)

// blank is a process with no environment, so that nothing of the machine gets
// into a help text.
func blank() *kit.Kit {
	return &kit.Kit{Streams: kit.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}, Dir: "/"}
}

// roots are the command trees of the programs, complete and without the line
// that names the day.
func roots() []*cobra.Command {
	trees := []*cobra.Command{cli.New(blank(), program.Full()), serve.NewDaemon(blank())}
	for _, root := range trees {
		root.DisableAutoGenTag = true
		root.InitDefaultHelpCmd()
		root.InitDefaultCompletionCmd()
	}
	return trees
}

// each calls visit for every command that a user sees.
func each(cmd *cobra.Command, visit func(*cobra.Command) error) error {
	if err := visit(cmd); err != nil {
		return fmt.Errorf("%s: %w", cmd.CommandPath(), err)
	}
	for _, sub := range cmd.Commands() {
		if !sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
			continue
		}
		if err := each(sub, visit); err != nil {
			return err
		}
	}
	return nil
}

// fileName is "svcctl_versions_list" with the given separator.
func fileName(cmd *cobra.Command, sep string) string {
	return strings.ReplaceAll(cmd.CommandPath(), " ", sep)
}

func addCompletions(out files) error {
	root := roots()[0]
	for name, generate := range map[string]func(io.Writer) error{
		"bash": func(w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		"zsh":  root.GenZshCompletion,
		"fish": func(w io.Writer) error { return root.GenFishCompletion(w, true) },
		"ps1":  root.GenPowerShellCompletionWithDesc,
	} {
		var b bytes.Buffer
		if err := generate(&b); err != nil {
			return fmt.Errorf("completion for %s: %w", name, err)
		}
		out["completions/svcctl."+name] = b.Bytes()
	}
	return nil
}

// addPages writes a Markdown page for each command, and an index of them.
func addPages(out files) error {
	const dir = "docs/reference/cli"
	index := bytes.NewBufferString("# Commands\n" + notice)
	for _, root := range roots() {
		fmt.Fprintf(index, "\n## %s\n\n| command | what it does |\n|---|---|\n", root.Name())
		err := each(root, func(cmd *cobra.Command) error {
			var b bytes.Buffer
			if err := doc.GenMarkdown(cmd, &b); err != nil {
				return err
			}
			page := fileName(cmd, "_") + ".md"
			out[filepath.Join(dir, page)] = tidy(b.Bytes())
			fmt.Fprintf(index, "| [`%s`](%s) | %s |\n", cmd.CommandPath(), page, cmd.Short)
			return nil
		})
		if err != nil {
			return err
		}
	}
	out[filepath.Join(dir, "README.md")] = index.Bytes()
	return nil
}

// addManuals writes a manual page for each command.
func addManuals(out files) error {
	for _, root := range roots() {
		err := each(root, func(cmd *cobra.Command) error {
			var b bytes.Buffer
			day := time.Time{} // the library insists on one; undated takes it out
			if err := doc.GenMan(cmd, &doc.GenManHeader{Section: "1", Source: "svcctl", Manual: "svcctl manual", Date: &day}, &b); err != nil {
				return err
			}
			out["docs/man/"+fileName(cmd, "-")+".1"] = tidy(undated(b.Bytes()))
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// undated empties the date of a manual page's title line.
func undated(page []byte) []byte {
	return bytes.Replace(page, []byte(`"Jan 0001"`), []byte(`""`), 1)
}

// tidy ends a text with exactly one newline and no line with a space.
func tidy(text []byte) []byte {
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	for i, line := range lines {
		lines[i] = bytes.TrimRight(line, " \t")
	}
	return append(bytes.Join(lines, []byte("\n")), '\n')
}
