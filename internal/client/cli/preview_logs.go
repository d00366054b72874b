package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/lib/backoff"
)

// switchPoll is the time between two looks at the version of a preview whose logs are
// followed.
const switchPoll = 2 * time.Second

func newPreviewLogs(k *kit.Kit) *cobra.Command {
	var o logsOptions
	cmd := &cobra.Command{
		Use: "logs [[PROJECT/]NAME]", Aliases: []string{"tail"}, Short: "Show the logs of a preview", Args: cobra.MaximumNArgs(1),
		Long: "Shows the logs of the version behind a preview, like svcctl logs; -f then follows the preview to each new version. Without NAME it\n" +
			"is the preview of the git branch.",
		Annotations: map[string]string{kit.OutputFormats: "jsonl"}, ValidArgsFunction: arguments(previewNames(k)),
		RunE: func(cmd *cobra.Command, args []string) error { return previewLogs(cmd.Context(), k, o, args) },
	}
	o.flags(cmd)
	return cmd
}

func previewLogs(ctx context.Context, k *kit.Kit, o logsOptions, args []string) error {
	for shown := ""; ; {
		c, p, err := readPreview(ctx, k, args, o.project)
		if err != nil {
			return err
		}
		if p.VersionID == "" { // its only version may have failed: it has a log
			p.VersionID = p.NewestVersionID
		}
		if shown != "" && shown != p.VersionID {
			k.Notef("preview %s is %s now", p.Name, p.VersionID)
		}
		shown = p.VersionID
		if !o.follow {
			return runLogs(ctx, k, o, p.ProjectID+"/"+shown)
		}
		if err := followUntilSwitch(ctx, k, o, func(ctx context.Context) bool {
			now, err := c.Preview(ctx, p.ProjectID, p.Name)
			return err == nil && now.VersionID != "" && now.VersionID != shown
		}, p.ProjectID+"/"+shown); err != nil || ctx.Err() != nil {
			return err
		}
		if err := backoff.Sleep(ctx, switchPoll/10); err != nil {
			return nil //nolint:nilerr // Ctrl-C is how a person ends it
		}
		o.query.Cursor = ""
	}
}

// followUntilSwitch follows the logs of a version until its preview has another one.
func followUntilSwitch(ctx context.Context, k *kit.Kit, o logsOptions, switched func(context.Context) bool, version string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		tick := time.NewTicker(switchPoll)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if switched(ctx) {
				cancel()
			}
		}
	}()
	return runLogs(ctx, k, o, version)
}
