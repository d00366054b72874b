package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/api"
)

func newTLS(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "tls", Short: "Look at the certificates of a server that serves https itself"}
	cmd.AddCommand(&cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the certificates, those that end first at the top, and orders of more", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return listCertificates(cmd.Context(), k) },
	})
	return cmd
}

func listCertificates(ctx context.Context, k *kit.Kit) error {
	c, err := k.Client()
	if err != nil {
		return err
	}
	list, err := c.Certificates(ctx)
	if err != nil {
		return err
	}
	return k.Print(list, func() {
		var rows [][]string
		for _, one := range list.Items {
			rows = append(rows, []string{
				strings.Join(one.Names, ","), one.NotAfter.UTC().Format(time.RFC3339), cmp.Or(one.Issuer, "-"), cmp.Or(one.File, "-"), cmp.Or(one.Error, "-"),
			})
		}
		for _, o := range list.Orders {
			rows = append(rows, []string{o.Host, "-", "-", "-", orderState(o)})
		}
		k.Table([]string{"NAMES", "VALID UNTIL", "ISSUER", "FILE", "PROBLEM"}, rows)
		if len(rows) == 0 {
			k.Notef("the server has no certificates: see docs/guide/tls.md, or docs/guide/proxies.md")
		}
	})
}

// orderState says how far an order is.
func orderState(o api.CertificateOrder) string {
	switch o.State {
	case api.CertificateOrderStateWaiting:
		return "waits for other orders"
	case api.CertificateOrderStateRunning:
		return "being ordered"
	case api.CertificateOrderStateFailed:
		return kit.Clean(fmt.Sprintf("ordered again from %s: %s", o.RetryAt.UTC().Format(time.RFC3339), o.Error))
	}
	return string(o.State) // of a newer server
}
