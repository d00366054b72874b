package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/client"
)

// addYes adds the flag --yes to commands that change data, or the variables, of a version.
func addYes(k *kit.Kit, commands ...*cobra.Command) {
	for _, cmd := range commands {
		cmd.Flags().BoolVarP(&k.Yes, "yes", "y", false, "skip the prompt about a change of production")
	}
}

// askProduction asks the person on a terminal before a command changes production. what says what the command
// does. Without a person to ask, as in scripts and in CI, the command continues.
func askProduction(ctx context.Context, k *kit.Kit, c *client.Client, b bindingOf, what string) error {
	if k.Yes || !k.CanAsk() {
		return nil
	}
	v, err := c.Version(ctx, b.Project, b.Version)
	if err != nil || !v.IsProduction {
		return err
	}
	return k.Confirm(ctx, fmt.Sprintf("%s/%s is production: this %s", b.Project, b.Version, what), b.Project, "--yes")
}
