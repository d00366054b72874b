package cli

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/pkg/client"
)

// upgradePace is the time between two looks at a server that is replaced.
const upgradePace = 100 * time.Millisecond

func newAdminUpgrade(k *kit.Kit) *cobra.Command {
	limit := time.Minute
	cmd := &cobra.Command{
		Use: "upgrade", Short: "Replace the running server by the installed program", Args: cobra.NoArgs,
		Long: "Tells the server on this machine to finish its requests and to become the program that is installed now, with the same process id. " +
			"It keeps its ports open: connections wait, none is refused. Websockets are closed with code 1012, and requests that need more than 5 seconds are cut off. " +
			"A program that does not start is refused before. Run it after an installation, as the user of the server or as root.",
		RunE: func(cmd *cobra.Command, _ []string) error { return upgradeServer(cmd.Context(), k, limit) },
	}
	cmd.Flags().DurationVar(&limit, "timeout", limit, "time limit until the new program serves")
	return cmd
}

func upgradeServer(ctx context.Context, k *kit.Kit, limit time.Duration) error {
	note, err := config.LocalDaemon(k.Environ)
	if err != nil {
		return err
	}
	c, err := client.New(note.API, client.Tokens{Deploy: note.DeployToken, Admin: note.AdminToken}, client.Options{})
	if err != nil {
		return err
	}
	signaled := time.Now()
	if err := syscall.Kill(note.PID, syscall.SIGUSR2); err != nil {
		return fmt.Errorf("signal process %d: %w: run the command as the user of the server", note.PID, err)
	}
	progress := k.NewProgress()
	defer progress.Abort()
	progress.Stage("replacing the server")
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		now, err := c.Health(ctx)
		if err == nil && now.UptimeSeconds < time.Since(signaled).Seconds() {
			progress.Done("")
			return k.Print(now, func() { k.Printf("replaced: %s serves at %s", now.Version, note.API) })
		}
		select {
		case <-time.After(upgradePace):
		case <-ctx.Done():
			return &kit.TimeoutError{Text: fmt.Sprintf("the server was not replaced within %s: its log says why", limit)}
		}
	}
}
