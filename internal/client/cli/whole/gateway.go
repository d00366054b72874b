package whole

import (
	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
)

// Gateway are the flags of svcctl gateway.
type Gateway struct{ Control, TokenFile, CAFile, Listen, Status, Name string }

func (r Runs) gateway(k *kit.Kit) *cobra.Command {
	var f Gateway
	cmd := &cobra.Command{
		Use: "gateway", Short: "Run a gateway on another machine than the server", Args: cobra.NoArgs,
		Long: "Serves visitors with the routes of a server (SVC_GATEWAYS_LISTEN there), and sends their requests to its versions.\n" +
			"Without the server the last routes stay in place. /ready and /metrics are at the address of --status.\n" +
			"Settings of a server that concern visitors are valid here too, as environment variables: SVC_TRUSTED_PROXIES,\n" +
			"SVC_GATEWAY_ENGINE, SVC_COMPRESSION, SVC_GEOIP_DB, GATEWAY_URL, SVC_CLIENT_TIMEOUT, SVC_MAX_CONNECTIONS and the like, SVC_LOG_LEVEL.",
		RunE: func(cmd *cobra.Command, _ []string) error { return r.Gateway(cmd.Context(), k, f) },
	}
	cmd.Flags().StringVar(&f.Control, "control", "", "URL of the server's port for gateways, such as https://10.0.0.1:8791")
	cmd.Flags().StringVar(&f.TokenFile, "token-file", "", "file with a token that has the role gateway")
	cmd.Flags().StringVar(&f.CAFile, "ca-file", "", "file of authorities for the server's certificate, PEM (default: those of the system)")
	cmd.Flags().StringVar(&f.Listen, "listen", "127.0.0.1:8787", "address for visitors, host:port")
	cmd.Flags().StringVar(&f.Status, "status", "127.0.0.1:8792", "address of /ready and /metrics, host:port; off for none")
	cmd.Flags().StringVar(&f.Name, "name", "", "name in lists (default: the name of this machine)")
	for _, name := range []string{"control", "token-file"} {
		_ = cmd.MarkFlagRequired(name) // they exist
	}
	return cmd
}
