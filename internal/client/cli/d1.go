package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

func newD1(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "d1", Short: "Read and change the databases of a version", RunE: serveHelp}
	cmd.AddCommand(newD1Execute(k), newD1Import(k), newD1Export(k), newD1Migrations(k), newD1Diff(k), newD1Shell(k))
	addForce(k, cmd)
	return cmd
}

type d1Execute struct {
	project, binding, command, file string
	write                           bool
}

func newD1Execute(k *kit.Kit) *cobra.Command {
	var o d1Execute
	cmd := &cobra.Command{
		Use: "execute [PROJECT/]VERSION {--command SQL | --file FILE}", Short: "Run SQL on a database of a version", Args: cobra.ExactArgs(1),
		Long: "Runs one statement or several, as one transaction, on a database of a version that serves. Statements that change data need --write.",
		RunE: func(cmd *cobra.Command, args []string) error { return execute(cmd.Context(), k, o, args[0]) },
	}
	projectFlag(cmd, &o.project)
	cmd.Flags().StringVar(&o.command, "command", "", "SQL to run")
	cmd.Flags().StringVar(&o.file, "file", "", `run the SQL in this file; "-" for standard input`)
	cmd.Flags().StringVar(&o.binding, "binding", "", "binding of the database (default: the only one)")
	cmd.Flags().BoolVar(&o.write, "write", false, "allow statements that change data")
	addYes(k, cmd)
	return cmd
}

func execute(ctx context.Context, k *kit.Kit, o d1Execute, arg string) error {
	if err := o.read(k); err != nil {
		return err
	}
	c, project, id, err := versionAt(k, arg, o.project)
	if err != nil {
		return err
	}
	if o.write {
		if err := askProduction(ctx, k, c, bindingOf{Project: project, Version: id}, "runs SQL that may change its data"); err != nil {
			return err
		}
	}
	readOnly := !o.write
	results, err := c.Query(ctx, project, id, api.DatabaseQuery{SQL: o.command, Binding: o.binding, ReadOnly: &readOnly})
	if refused, ok := errors.AsType[*client.Error](err); ok && isReadOnly(refused) {
		return kit.Usagef("the statement changes data: add --write to allow it")
	}
	if err != nil {
		return err
	}
	return k.Print(results, func() {
		for _, r := range results {
			showResult(k, r)
		}
	})
}

// read makes the content of --file the command.
func (o *d1Execute) read(k *kit.Kit) error {
	switch {
	case o.command != "" && o.file != "":
		return kit.Usagef("the SQL is given twice: use --command or --file")
	case o.command != "":
		return nil
	case o.file == "":
		return kit.Usagef("missing SQL: use --command or --file")
	}
	text, err := k.ReadFile(o.file)
	o.command = string(text)
	return err
}

// isReadOnly reports whether a query was refused because it changes data.
func isReadOnly(e *client.Error) bool {
	return slices.ContainsFunc(e.Problem.Errors, func(f api.FieldProblem) bool { return f.Pointer == "/read_only" })
}

// showResult prints the rows of a statement, or what it did.
func showResult(k *kit.Kit, r api.QueryResult) {
	if len(r.Columns) == 0 {
		k.Printf("%s changed", count(r.Meta.Changes, "row"))
		return
	}
	showRows(k, r.Columns, r.Results, r.Truncated)
}

// showRows prints the rows that SQL selected.
func showRows(k *kit.Kit, columns []string, rows []map[string]any, truncated bool) {
	k.Table(columns, kit.Rows(rows, func(row map[string]any) (cells []string) {
		for _, name := range columns {
			cells = append(cells, cell(row[name]))
		}
		return cells
	}))
	if truncated {
		k.Notef("only the first %d rows are shown", len(rows))
	}
}

// cell is a value of a row for people.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case map[string]any:
		return fmt.Sprintf("base64:%v", v["$base64"])
	}
	return fmt.Sprint(v)
}
