package cli

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

func newWebhooks(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{
		Use: "webhooks", Aliases: []string{"webhook"}, Short: "Send events of deploys, releases and crashes to an address or a chat", RunE: serveHelp,
		Long: "Sends events of the server to addresses: signed as Standard Webhooks, or as a sentence for Slack or Discord. An address gets each event at least once; " +
			"when it does not accept one, it is tried again for about a day and a half.\nGuide: docs/guide/webhooks.md",
	}
	cmd.AddCommand(newWebhooksAdd(k), newWebhooksList(k), newWebhooksRemove(k), newWebhooksTest(k), newWebhooksDeliveries(k), newWebhooksReplay(k), newWebhooksRotate(k))
	return cmd
}

type webhookOptions struct {
	project, format string
	events          []string
}

func newWebhooksAdd(k *kit.Kit) *cobra.Command {
	var o webhookOptions
	cmd := &cobra.Command{
		Use: "add URL", Short: "Send events to an address, and print the secret of its signatures", Args: cobra.ExactArgs(1),
		Long:    "Sends events to an address from now on. Events are types, errors for those that need a person, or all:\n  " + strings.Join(svc.WebhookTypes(), "\n  "),
		Example: "  svcctl webhooks add https://ops.example.com/svcctl --project shop --events version.ready,release.done\n  svcctl webhooks add https://hooks.slack.com/services/… --format slack",
		RunE:    func(cmd *cobra.Command, args []string) error { return addWebhook(cmd.Context(), k, o, args[0]) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.project, "project", "p", "", "only events of this project (default: of all projects and the server)")
	f.StringSliceVar(&o.events, "events", []string{svc.WebhookErrors}, "types of events, with commas between")
	f.StringVar(&o.format, "format", "", "format of the body: standard, slack or discord (default: standard)")
	_ = cmd.RegisterFlagCompletionFunc("events", cobra.FixedCompletions(append(svc.WebhookTypes(), svc.WebhookErrors, svc.WebhookAll), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"standard", "slack", "discord"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func addWebhook(ctx context.Context, k *kit.Kit, o webhookOptions, url string) error {
	c, err := k.Client()
	if err != nil {
		return err
	}
	added, err := c.CreateWebhook(ctx, api.CreateWebhook{URL: url, Events: o.events, ProjectID: o.project, Format: o.format})
	if err != nil {
		return kit.InFlags(err, map[string]string{"/events": "--events", "/format": "--format", "/url": "URL"})
	}
	return showWebhookSecret(k, added)
}

func showWebhookSecret(k *kit.Kit, w api.WebhookSecret) error {
	return k.Print(w, func() {
		k.Printf("webhook  %s", w.Webhook.ID)
		k.Printf("secret   %s (it is not shown again)", w.Secret)
	})
}

func newWebhooksList(k *kit.Kit) *cobra.Command {
	var project string
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the webhooks", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return listWebhooks(cmd.Context(), k, project) },
	}
	cmd.Flags().StringVarP(&project, "project", "p", "", "only those of this project (default: all)")
	return cmd
}

func listWebhooks(ctx context.Context, k *kit.Kit, project string) error {
	c, err := k.Client()
	if err != nil {
		return err
	}
	list, err := c.Webhooks(ctx, project)
	if err != nil {
		return err
	}
	return k.Print(list, func() {
		k.Table([]string{"WEBHOOK", "PROJECT", "EVENTS", "FORMAT", "STATE", "URL"}, kit.Rows(list, func(w api.Webhook) []string {
			state := "active"
			if w.EndedAt != nil {
				state = "ended: the receiver answered 410"
			}
			return []string{w.ID, cmp.Or(w.ProjectID, "all"), strings.Join(w.Events, ","), w.Format, state, w.URL}
		}))
	})
}

// onWebhook makes a command on the webhook of its first argument.
func onWebhook(k *kit.Kit, cmd *cobra.Command, run func(context.Context, *client.Client, []string) error) *cobra.Command {
	cmd.ValidArgsFunction = webhookIDs(k)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := k.Client()
		if err != nil {
			return err
		}
		return run(cmd.Context(), c, args)
	}
	return cmd
}

func newWebhooksRemove(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "remove WEBHOOK", Aliases: []string{"rm", "delete"}, Short: "Remove a webhook and its deliveries", Args: cobra.ExactArgs(1)}
	return onWebhook(k, cmd, func(ctx context.Context, c *client.Client, args []string) error {
		if err := c.DeleteWebhook(ctx, args[0]); err != nil {
			return err
		}
		return k.Print(map[string]string{"id": args[0]}, func() { k.Printf("removed %s", args[0]) })
	})
}

func newWebhooksRotate(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{
		Use: "rotate WEBHOOK", Short: "Give a webhook another secret, and print it", Args: cobra.ExactArgs(1),
		Long: "Gives a webhook another secret. For a day each event has a signature of both.",
	}
	return onWebhook(k, cmd, func(ctx context.Context, c *client.Client, args []string) error {
		w, err := c.RotateWebhook(ctx, args[0])
		if err != nil {
			return err
		}
		return showWebhookSecret(k, w)
	})
}

func newWebhooksTest(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{
		Use: "test WEBHOOK", Short: "Send a test to a webhook once", Args: cobra.ExactArgs(1),
		Long: "Sends an event of the type webhook.test and shows the answer. It exits with 1 if the receiver does not accept it.",
	}
	return onWebhook(k, cmd, func(ctx context.Context, c *client.Client, args []string) error {
		d, err := c.TestWebhook(ctx, args[0])
		if err != nil {
			return err
		}
		if err := k.Print(d, func() { showDeliveries(k, []api.WebhookDelivery{d}) }); err != nil || d.State == "delivered" {
			return err
		}
		return fmt.Errorf("the receiver did not accept the test: %s", cameOf(d))
	})
}

func newWebhooksDeliveries(k *kit.Kit) *cobra.Command {
	limit := 0
	cmd := &cobra.Command{
		Use: "deliveries WEBHOOK", Short: "List what was sent to a webhook in the last seven days", Args: cobra.ExactArgs(1),
	}
	cmd.Flags().IntVar(&limit, "limit", 50, "maximum number of results (0 = no limit)")
	return onWebhook(k, cmd, func(ctx context.Context, c *client.Client, args []string) error {
		list, err := collect(c.AllDeliveries(ctx, args[0]), limit)
		if err != nil {
			return err
		}
		err = k.Print(list.items, func() { showDeliveries(k, list.items) })
		list.note(k)
		return err
	})
}

func newWebhooksReplay(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{
		Use: "replay WEBHOOK DELIVERY", Short: "Send a delivery again", Args: cobra.ExactArgs(2),
		Long: "Sends a delivery again, under the same id, with all tries of a new one.",
	}
	return onWebhook(k, cmd, func(ctx context.Context, c *client.Client, args []string) error {
		d, err := c.ReplayDelivery(ctx, args[0], args[1])
		if err != nil {
			return err
		}
		return k.Print(d, func() { k.Printf("%s is sent again", d.ID) })
	})
}

func showDeliveries(k *kit.Kit, list []api.WebhookDelivery) {
	k.Table([]string{"DELIVERY", "TIME", "EVENT", "STATE", "TRIES", "ANSWER"}, kit.Rows(list, func(d api.WebhookDelivery) []string {
		state := d.State
		if d.NextAt != nil {
			state = "waiting until " + d.NextAt.Local().Format(time.DateTime)
		}
		return []string{d.ID, d.CreatedAt.Local().Format(time.DateTime), d.Type, state, strconv.Itoa(d.Attempts), cameOf(d)}
	}))
}

// cameOf says what came of the last try.
func cameOf(d api.WebhookDelivery) string {
	if d.Error != "" || d.Status == 0 {
		return d.Error
	}
	return strings.TrimSpace(fmt.Sprintf("%d %.60s", d.Status, kit.Clean(d.Answer)))
}

// webhookIDs completes the ids of webhooks.
func webhookIDs(k *kit.Kit) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completeWithin)
		defer cancel()
		c, err := k.Client()
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		list, _ := c.Webhooks(ctx, "")
		var found []string
		for _, w := range list {
			if strings.HasPrefix(w.ID, typed) {
				found = append(found, cobra.CompletionWithDesc(w.ID, cmp.Or(w.ProjectID, "all projects")))
			}
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}
