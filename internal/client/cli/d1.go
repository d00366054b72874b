package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/api"
)

func newD1(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "d1", Short: "Read and change the databases of a version", RunE: serveHelp}
	cmd.AddCommand(newD1Execute(k), newD1Import(k))
	return cmd
}

type d1Execute struct {
	project, binding, command string
	write                     bool
}

func newD1Execute(k *kit.Kit) *cobra.Command {
	var o d1Execute
	cmd := &cobra.Command{
		Use: "execute [PROJECT/]VERSION --command SQL", Short: "Run SQL on a database of a version", Args: cobra.ExactArgs(1),
		Long: "Runs one statement or several, as one transaction, on a database of a version that serves. Statements that change data need --write.",
		RunE: func(cmd *cobra.Command, args []string) error { return execute(cmd.Context(), k, o, args[0]) },
	}
	projectFlag(cmd, &o.project)
	cmd.Flags().StringVar(&o.command, "command", "", "SQL to run")
	cmd.Flags().StringVar(&o.binding, "binding", "", "binding of the database (default: the only one)")
	cmd.Flags().BoolVar(&o.write, "write", false, "allow statements that change data")
	return cmd
}

func execute(ctx context.Context, k *kit.Kit, o d1Execute, arg string) error {
	if o.command == "" {
		return kit.Usagef("missing SQL: use --command")
	}
	project, id, err := versionOf(k, arg, o.project)
	if err != nil {
		return err
	}
	c, err := k.Client()
	if err != nil {
		return err
	}
	readOnly := !o.write
	results, err := c.Query(ctx, project, id, api.DatabaseQuery{SQL: o.command, Binding: o.binding, ReadOnly: &readOnly})
	if err != nil {
		return err
	}
	return k.Print(results, func() {
		for _, r := range results {
			showResult(k, r)
		}
	})
}

// showResult prints the rows of a statement, or what it did.
func showResult(k *kit.Kit, r api.QueryResult) {
	if len(r.Columns) == 0 {
		k.Printf("%d rows changed", r.Meta.Changes)
		return
	}
	rows := make([][]string, len(r.Results))
	for i, row := range r.Results {
		for _, name := range r.Columns {
			rows[i] = append(rows[i], cell(row[name]))
		}
	}
	k.Table(r.Columns, rows)
	if r.Truncated {
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
