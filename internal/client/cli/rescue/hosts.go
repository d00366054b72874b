package rescue

import (
	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/server/daemon"
)

func newHosts(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "hosts", Short: "Let machines run versions for the server on this machine"}
	cmd.AddCommand(newHostToken(k))
	return cmd
}

func newHostToken(k *kit.Kit) *cobra.Command {
	var (
		p      place
		rotate bool
	)
	cmd := &cobra.Command{
		Use: "token", Short: "Print the token with which svcd host joins the server on this machine", Args: cobra.NoArgs,
		Long: "Prints the join token, a secret, and makes it if there was none. It has the form svchost.PIN.SECRET: PIN identifies the " +
			"certificate authority of the server. --rotate makes another secret: machines with the token before cannot join any more; those that have joined stay until their line ends.",
		RunE: func(*cobra.Command, []string) error {
			cfg, err := p.settings(k)
			if err != nil {
				return err
			}
			token, err := daemon.HostToken(cfg, rotate)
			if err != nil {
				return err
			}
			return k.Print(map[string]string{"token": token}, func() { k.Printf("%s", token) })
		},
	}
	p.flags(cmd)
	cmd.Flags().BoolVar(&rotate, "rotate", false, "replace the secret")
	return cmd
}
