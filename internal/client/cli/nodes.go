package cli

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/api"
)

func newNodes(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "nodes", Short: "List the machines that run versions for a server", Args: cobra.NoArgs,
		Long: "Lists the machines that have joined a server with SVC_RUNTIME=remote (svcd host): the versions that each runs, the worker hosts " +
			"that wait for one, the memory of all of them, and how long ago the machine answered.",
		RunE: func(cmd *cobra.Command, _ []string) error { return listNodes(cmd.Context(), k) },
	}
}

func listNodes(ctx context.Context, k *kit.Kit) error {
	c, err := k.Client()
	if err != nil {
		return err
	}
	list, err := c.Nodes(ctx)
	if err != nil {
		return err
	}
	return k.Print(list, func() {
		if len(list.Items) == 0 {
			k.Notef("no machine has joined: the server runs versions itself, or see docs/guide/fleet.md")
			return
		}
		rows := make([][]string, len(list.Items))
		for i, n := range list.Items {
			rows[i] = nodeRow(n)
		}
		k.Table([]string{"NAME", "VERSIONS", "SPARES", "MEMORY", "ANSWERED"}, rows)
	})
}

func nodeRow(n api.Node) []string {
	versions := "-"
	if len(n.Versions) > 0 {
		versions = strings.Join(n.Versions, ",")
	}
	ago := time.Since(n.AnsweredAt.Time).Round(time.Second)
	return []string{n.Name, versions, strconv.Itoa(n.Spares), strconv.FormatInt(n.RSSBytes>>20, 10) + " MiB", ago.String() + " ago"}
}
