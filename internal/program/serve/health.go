package serve

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/config"
)

// healthLimit is how long the daemon may take to answer.
const healthLimit = 5 * time.Second

// newHealth asks the daemon of this machine, where no curl is: in the image.
func newHealth(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "health", Short: "Ask the daemon of this data directory whether it serves", Args: cobra.NoArgs,
		Long: "Exits with 0 when the API of the daemon that uses this data directory answers, and with 1 otherwise.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			src, err := config.MachineSource(k.Environ)
			if err != nil {
				return err
			}
			cfg, err := config.LoadDaemon(src)
			if err != nil {
				return kit.Usagef("%v", err)
			}
			note, err := config.ReadNote(cfg.DataDir)
			if err != nil {
				return fmt.Errorf("no daemon uses %s (set SVC_DATA_DIR, or run the command as root or as the user of the daemon): %w", cfg.DataDir, err)
			}
			if err := healthy(cmd.Context(), note.API); err != nil {
				return err
			}
			return k.Print(map[string]string{"status": "ok", "api": note.API}, func() { k.Printf("%s serves", note.API) })
		},
	}
}

func healthy(ctx context.Context, api string) error {
	ctx, cancel := context.WithTimeout(ctx, healthLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, api+"/v1/health", http.NoBody)
	if err != nil {
		return err
	}
	answer, err := (&http.Client{Timeout: healthLimit}).Do(request)
	if err != nil {
		return fmt.Errorf("the daemon does not answer: %w", err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the daemon answers %s", answer.Status)
	}
	return nil
}
