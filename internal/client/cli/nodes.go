package cli

import (
	"cmp"
	"context"
	"slices"
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
		Long: "Lists the machines that have joined a server with SVC_RUNTIME=remote (svcd host), or its pods with SVC_RUNTIME=kubernetes: the node " +
			"that a pod is on, the versions that each runs, the worker hosts that wait for one, the memory of all of them, and how long ago the machine answered.",
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
		showNodes(k, list.Items)
	})
}

// showNodes prints a row for each machine. The column of nodes is there when one is a pod.
func showNodes(k *kit.Kit, items []api.Node) {
	header, row := []string{"NAME", "VERSIONS", "SPARES", "MEMORY", "ANSWERED"}, nodeRow
	if slices.ContainsFunc(items, func(n api.Node) bool { return n.Node != "" }) {
		header = slices.Insert(header, 1, "NODE")
		row = func(n api.Node) []string { return slices.Insert(nodeRow(n), 1, cmp.Or(n.Node, "-")) }
	}
	k.Table(header, kit.Rows(items, row))
}

func nodeRow(n api.Node) []string {
	versions := "-"
	if len(n.Versions) > 0 {
		versions = strings.Join(n.Versions, ",")
	}
	ago := time.Since(n.AnsweredAt.Time).Round(time.Second)
	return []string{n.Name, versions, strconv.Itoa(n.Spares), strconv.FormatInt(n.RSSBytes>>20, 10) + " MiB", ago.String() + " ago"}
}
