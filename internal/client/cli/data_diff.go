package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/client"
)

// dataDiffFlags are the flags of svcctl data diff.
type dataDiffFlags struct {
	client.DiffOptions

	sql, schema bool
}

func newDataDiff(k *kit.Kit) *cobra.Command {
	var o dataDiffFlags
	cmd := &cobra.Command{
		Use: "diff [PROJECT/]VERSION [OTHER]", Short: "Show what differs between the data of two versions", Args: cobra.RangeArgs(1, 2),
		Long: "Compares the data that two versions have now: the schema and the rows of D1, the keys of KV, the objects of R2, the messages of queues and the\n" +
			"storage of Durable Objects. Without OTHER it shows what the version changed since it was forked. + is only in OTHER, - only in VERSION.\n" +
			"\n" +
			"Rows are the same by their primary key, or else by their rowid; what both versions wrote alike does not differ. A key that has expired does not\n" +
			"exist. The versions need not run. The cost grows with what was written since the data began to differ, not with the data; versions that\n" +
			"have little in common are compared with --full.\n" +
			"\n" +
			"--sql writes statements that turn the D1 data of VERSION into that of OTHER. A statement changes nothing where the row has other values by\n" +
			"now. Triggers and actions of foreign keys run as they do for every statement.",
		Example: "  svcctl data diff shop/pr-7\n  svcctl data diff v7 v8 --rows --table orders\n  svcctl data diff v7 v8 --schema\n" +
			"  svcctl data diff v7 v8 --sql --database main > changes.sql && svcctl d1 import v7 changes.sql",
	}
	cmd.ValidArgsFunction = arguments(versionNames(k), versionNames(k))
	f := cmd.Flags()
	f.BoolVar(&o.Rows, "rows", false, "show the rows, keys, objects and messages with their values")
	f.BoolVar(&o.sql, "sql", false, "write SQL statements that repeat the changes of D1")
	f.BoolVar(&o.schema, "schema", false, "show the statements of the tables, indexes, triggers and views that differ, and nothing else")
	f.StringVar(&o.Database, "database", "", "compare only this database of D1")
	f.StringVar(&o.Table, "table", "", "compare only the tables of D1 with this name")
	f.BoolVar(&o.Full, "full", false, "read everything, however much it is")
	_ = cmd.RegisterFlagCompletionFunc("database", databaseNames(k)) // it exists
	return onVersion(k, cmd, func(ctx context.Context, v atVersion, args []string) error { return o.run(ctx, k, v, args) })
}

func (o dataDiffFlags) run(ctx context.Context, k *kit.Kit, v atVersion, args []string) (err error) {
	switch {
	case o.sql && o.schema, o.sql && o.Rows, o.schema && o.Rows:
		return kit.Usagef("--rows, --sql and --schema exclude each other")
	case o.sql && (k.JSON() || k.Names()):
		return kit.Usagef("--sql writes SQL: leave out --output; -o json with --rows has the statements, too")
	}
	if len(args) > 0 {
		if _, o.With, err = splitRef(args[0], v.project); err != nil {
			return err
		}
	}
	o.Rows = o.Rows || o.sql
	records := v.DiffData(ctx, v.project, v.version, o.DiffOptions)
	d := &dataDifference{ProjectID: v.project, VersionID: v.version, OtherVersionID: o.With, Schema: []dataSchema{}, Counts: []dataCount{}}
	if o.sql {
		return d.script(k, records)
	}
	if err := d.collect(records); err != nil {
		return err
	}
	return k.Print(d, func() { d.print(k, o) })
}
