package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/api"
)

func newEmail(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "email", Short: "Read the mail that a version sent", RunE: serveHelp}
	cmd.AddCommand(newEmailList(k), newEmailShow(k))
	return cmd
}

func newEmailList(k *kit.Kit) *cobra.Command {
	var project string
	var limit int
	cmd := &cobra.Command{
		Use: "list [PROJECT/]VERSION", Aliases: []string{"ls"}, Short: "List sent mail, newest first", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 1 || limit > 1000 {
				return kit.Usagef("--limit must be from 1 to 1000")
			}
			return listEmails(cmd.Context(), k, project, args[0], limit)
		},
	}
	projectFlag(cmd, &project)
	cmd.Flags().IntVar(&limit, "limit", 50, "maximum number of messages")
	return cmd
}

func listEmails(ctx context.Context, k *kit.Kit, project, arg string, limit int) error {
	c, project, id, err := versionAt(k, arg, project)
	if err != nil {
		return err
	}
	list, err := c.Emails(ctx, project, id, limit)
	if err != nil {
		return err
	}
	return kit.PrintList(k, list, []string{"ID", "AT", "STATE", "FROM", "TO", "SUBJECT", "ERROR"}, func(m api.Email) []string {
		return []string{m.ID, m.At.UTC().Format(time.RFC3339), m.State, m.From, strings.Join(m.Recipients, ","), m.Subject, m.Error}
	})
}

func newEmailShow(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "show [PROJECT/]VERSION ID", Short: "Print the text of a message", Args: cobra.ExactArgs(2)}
	return onVersion(k, cmd, func(ctx context.Context, v atVersion, args []string) error {
		m, err := v.Email(ctx, v.project, v.version, args[0])
		if err != nil {
			return err
		}
		return k.Print(m, func() {
			for line := range strings.Lines(m.Raw) {
				k.Printf("%s", kit.Clean(strings.TrimRight(line, "\r\n")))
			}
		})
	})
}
