package cli

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/api"
)

func newGateways(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "gateways", Short: "List the gateways that serve visitors: the server's own one, and those on other machines", Args: cobra.NoArgs,
		Long: "Lists each gateway with the generation of its routes and what it has served since its start.\n" +
			"svcd gateway runs one on another machine; the server lets them in at SVC_GATEWAYS_LISTEN.",
		RunE: func(cmd *cobra.Command, _ []string) error { return listGateways(cmd.Context(), k) },
	}
}

func listGateways(ctx context.Context, k *kit.Kit) error {
	c, err := k.Client()
	if err != nil {
		return err
	}
	list, err := c.Gateways(ctx)
	if err != nil {
		return err
	}
	return k.Print(list, func() {
		var rows [][]string
		for _, g := range list.Items {
			rows = append(rows, []string{
				g.Name, cmp.Or(g.Listens, g.Address), gatewayState(&g), strconv.FormatInt(g.Generation, 10),
				strconv.FormatInt(g.Requests, 10), strconv.FormatInt(g.Inflight, 10), strconv.FormatInt(g.Websockets, 10),
			})
		}
		k.Table([]string{"NAME", "LISTENS AT", "STATE", "GENERATION", "REQUESTS", "IN FLIGHT", "WEBSOCKETS"}, rows)
	})
}

// gatewayState says whether the server hears of a gateway, and whether it has the last routes.
func gatewayState(g *api.Gateway) string {
	switch {
	case !g.Connected && g.ReportedAt == nil:
		return "away"
	case !g.Connected:
		return "away for " + time.Since(g.ReportedAt.Time).Round(time.Second).String()
	case g.Behind > 0:
		return fmt.Sprintf("behind by %d", g.Behind)
	}
	return "current"
}
