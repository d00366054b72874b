package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
)

func newAdminRetention(k *kit.Kit) *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use: "retention", Short: "Destroy failed and archived versions that are not kept", Args: cobra.NoArgs,
		Long: "Destroys the versions that SVC_KEEP_FAILED and SVC_KEEP_ARCHIVED of the server do not keep, now. The server does the same every ten " +
			"minutes. Production and pinned versions are kept. --dry-run changes nothing.",
		RunE: func(cmd *cobra.Command, _ []string) error { return retention(cmd.Context(), k, dryRun) },
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show what would be destroyed, without changes")
	return cmd
}

func retention(ctx context.Context, k *kit.Kit, dryRun bool) error {
	c, err := k.Client()
	if err != nil {
		return err
	}
	report := c.ApplyRetention
	if dryRun {
		report = c.Retention
	}
	r, err := report(ctx)
	if err != nil {
		return err
	}
	if r.KeepFailed.Count == 0 && r.KeepFailed.AgeSeconds == 0 && r.KeepArchived.Count == 0 && r.KeepArchived.AgeSeconds == 0 {
		k.Notef("SVC_KEEP_FAILED and SVC_KEEP_ARCHIVED are off: all versions are kept")
	}
	return showBulk(k, r.Items, "destroyed", dryRun)
}
