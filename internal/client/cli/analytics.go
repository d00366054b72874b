package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
)

func newAnalytics(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "analytics", Short: "Query the data points of a version", RunE: serveHelp}
	cmd.AddCommand(newAnalyticsQuery(k))
	return cmd
}

func newAnalyticsQuery(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{
		Use: "query [PROJECT/]VERSION SQL", Short: "Run SQL on the data points of a version", Args: cobra.ExactArgs(2),
		Long: "Runs one statement that reads. Each dataset of Analytics Engine is a table with the columns timestamp (UTC), index1, blob1 to blob20 " +
			"and double1 to double20.",
		Example: `  svcctl analytics query shop/v7 "select blob1, count(*) from visits where timestamp > datetime('now', '-1 day') group by 1"`,
	}
	return onVersion(k, cmd, func(ctx context.Context, v atVersion, args []string) error {
		result, err := v.QueryAnalytics(ctx, v.project, v.version, args[0])
		if err != nil {
			return err
		}
		return k.Print(result, func() { showRows(k, result.Columns, result.Rows, result.Truncated) })
	})
}
