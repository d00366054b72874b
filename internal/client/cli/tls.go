package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
)

func newTLS(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "tls", Short: "Look at the certificates of a server that serves https itself"}
	cmd.AddCommand(&cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the certificates, those that end first at the top", Args: cobra.NoArgs,
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
		for _, one := range list {
			rows = append(rows, []string{
				strings.Join(one.Names, ","), one.NotAfter.UTC().Format(time.RFC3339), dash(one.Issuer), dash(one.File), dash(one.Error),
			})
		}
		k.Table([]string{"NAMES", "VALID UNTIL", "ISSUER", "FILE", "PROBLEM"}, rows)
		if len(list) == 0 {
			k.Notef("the server serves no https itself: set SVC_TLS_CERT, or see docs/guide/proxies.md")
		}
	})
}
