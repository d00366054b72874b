package whole

import (
	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
)

// Tour shows what the program does.
func (r Runs) Tour(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "demo", Short: "Show a deploy, a release and a rollback on a server of its own, in 10 seconds", Args: cobra.NoArgs,
		Long: "Starts a server on free ports with its data in a temporary directory, deploys a guestbook, signs it, releases a change on its\n" +
			"data and rolls back. Every command and every answer is shown, and everything is removed at the end.",
		RunE: func(cmd *cobra.Command, _ []string) error { return r.Demo(cmd.Context(), k) },
	}
}
