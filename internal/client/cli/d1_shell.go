package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

func newD1Shell(k *kit.Kit) *cobra.Command {
	var o d1Execute
	cmd := &cobra.Command{
		Use: "shell [PROJECT/]VERSION", Short: "Run SQL line by line on a database of a version", Args: cobra.ExactArgs(1),
		Long: "Reads statements, each up to a ; at the end of a line, and prints their rows. Each runs in a transaction of its own. On a terminal lines\n" +
			"can be edited and earlier ones come back with the arrow keys. .tables and .schema show the tables, .write on allows changes, .quit ends.",
		RunE: func(cmd *cobra.Command, args []string) error { return shell(cmd.Context(), k, o, args[0]) },
	}
	projectFlag(cmd, &o.project)
	cmd.Flags().StringVar(&o.binding, "binding", "", "binding of the database (default: the only one)")
	cmd.Flags().BoolVar(&o.write, "write", false, "allow statements that change data")
	addYes(k, cmd)
	return cmd
}

// sqlShell runs what is typed.
type sqlShell struct {
	k                *kit.Kit
	c                *client.Client
	project, version string
	binding          string
	write            bool
}

func shell(ctx context.Context, k *kit.Kit, o d1Execute, arg string) error {
	c, project, id, err := versionAt(k, arg, o.project)
	if err != nil {
		return err
	}
	s := sqlShell{k: k, c: c, project: project, version: id, binding: o.binding}
	if _, err := c.Query(ctx, project, id, api.DatabaseQuery{SQL: "SELECT 1", Binding: o.binding}); err != nil {
		return err // at the start, not at the first statement
	}
	if o.write {
		if err := s.mayWrite(ctx); err != nil {
			return err
		}
	}
	read := s.lines()
	statement := ""
	for {
		line, err := read(statement != "")
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("reading a statement: %w", err)
		}
		ended := err != nil || ctx.Err() != nil
		statement = strings.TrimSpace(statement + "\n" + line)
		switch {
		case strings.HasPrefix(statement, "."):
			if statement == ".quit" || statement == ".exit" {
				return nil
			}
			s.report(s.command(ctx, statement))
			statement = ""
		case strings.HasSuffix(statement, ";") || ended && statement != "":
			s.report(s.run(ctx, statement))
			statement = ""
		}
		if ended {
			return nil
		}
	}
}

// lines returns a reader of lines: with editing on a terminal, else of standard input.
func (s *sqlShell) lines() (read func(more bool) (string, error)) {
	file, ok := s.k.In.(*os.File)
	if !ok || !s.k.InTTY || !s.k.ErrTTY {
		in := bufio.NewReader(s.k.In)
		return func(bool) (string, error) { return in.ReadString('\n') }
	}
	s.k.Notef("%s of %s/%s; .quit ends", cmp.Or(s.binding, "database"), s.project, s.version)
	fd := int(file.Fd())
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{file, s.k.Err}, "")
	return func(more bool) (string, error) {
		saved, err := term.MakeRaw(fd) // only while a line is typed: Ctrl-C is a signal otherwise
		if err != nil {
			return "", err
		}
		defer func() { _ = term.Restore(fd, saved) }() // the terminal may be gone
		if t.SetPrompt("sql> "); more {
			t.SetPrompt("...> ")
		}
		return t.ReadLine()
	}
}

// report prints an error and continues.
func (s *sqlShell) report(err error) {
	if err != nil {
		s.k.Notef("%s", kit.Clean(err.Error()))
	}
}

func (s *sqlShell) run(ctx context.Context, statement string) error {
	readOnly := !s.write
	results, err := s.c.Query(ctx, s.project, s.version, api.DatabaseQuery{SQL: statement, Binding: s.binding, ReadOnly: &readOnly})
	if refused, ok := errors.AsType[*client.Error](err); ok && isReadOnly(refused) {
		return errors.New("the statement changes data: type .write on to allow it")
	}
	for _, r := range results {
		showResult(s.k, r)
	}
	return err
}

// mayWrite allows changes; for production the person at the terminal is asked.
func (s *sqlShell) mayWrite(ctx context.Context) error {
	err := askProduction(ctx, s.k, s.c, bindingOf{s.project, s.version, s.binding}, "lets statements change its data")
	s.write = err == nil
	return err
}

func (s *sqlShell) command(ctx context.Context, line string) error {
	switch line {
	case ".write on":
		return s.mayWrite(ctx)
	case ".write off":
		s.write = false
		return nil
	case ".tables", ".schema":
		tables, err := s.c.Tables(ctx, s.project, s.version, s.binding)
		for _, t := range tables {
			if line == ".tables" {
				s.k.Printf("%s", kit.Clean(t.Name))
			} else {
				s.k.Printf("%s;", kit.Clean(t.SQL))
			}
		}
		return err
	}
	return fmt.Errorf("unknown command %s: there are .tables, .schema, .write on, .write off and .quit", line)
}
