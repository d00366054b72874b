package cli

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

func newQueuesPeek(k *kit.Kit) *cobra.Command {
	var state string
	var limit int
	cmd := &cobra.Command{Use: "peek [PROJECT/]VERSION QUEUE", Short: "Show messages without receiving them", Args: cobra.ExactArgs(2)}
	cmd.Flags().StringVar(&state, "state", "", "state of the messages: ready, delayed or inflight (default: all)")
	cmd.Flags().IntVar(&limit, "limit", 20, "maximum number of results, at most 100")
	return onQueue(k, cmd, func(ctx context.Context, c *client.Client, q client.Queue) error {
		list, err := c.PeekMessages(ctx, q, api.MessageState(state), limit)
		if err != nil {
			return err
		}
		return printMessages(k, list)
	})
}

func printMessages(k *kit.Kit, list []api.Message) error {
	return kit.PrintList(k, list, []string{"ID", "STATE", "DUE", "ATTEMPTS", "TYPE", "DEAD FROM", "BODY"}, func(m api.Message) []string {
		return []string{m.ID, string(m.State), m.DueAt.UTC().Format(time.RFC3339), fmt.Sprint(m.Attempts), m.ContentType, optional(m.DeadFrom), string(m.Body)}
	})
}

type queueSend struct {
	project, contentType string
	delay                int64
}

func newQueuesSend(k *kit.Kit) *cobra.Command {
	var o queueSend
	cmd := &cobra.Command{
		Use: "send [PROJECT/]VERSION QUEUE BODY", Short: "Send a message", Args: cobra.ExactArgs(3),
		Example: `  svcctl queues send guestbook/v1 mails '{"to":"ada@example.com"}'`,
		RunE:    func(cmd *cobra.Command, args []string) error { return sendMessage(cmd.Context(), k, o, args) },
	}
	projectFlag(cmd, &o.project)
	cmd.Flags().StringVar(&o.contentType, "content-type", "json", "type of the body: json, text or bytes")
	cmd.Flags().Int64Var(&o.delay, "delay", 0, "seconds before the message is delivered")
	return cmd
}

func sendMessage(ctx context.Context, k *kit.Kit, o queueSend, args []string) error {
	m := api.NewMessage{ContentType: api.NewMessageContentType(o.contentType), DelaySeconds: o.delay}
	var err error
	switch m.ContentType {
	case api.NewMessageContentTypeJSON:
		if m.Body = json.RawMessage(args[2]); !json.Valid(m.Body) {
			return kit.Usagef("the message is not JSON: quote it, or use --content-type text")
		}
	case api.NewMessageContentTypeText:
		m.Body, err = json.Marshal(args[2])
	case api.NewMessageContentTypeBytes:
		m.Body, err = json.Marshal(map[string]string{"$base64": base64.StdEncoding.EncodeToString([]byte(args[2]))})
	case api.NewMessageContentTypeV8:
		fallthrough
	default:
		return kit.Usagef("unknown content type %q: use json, text or bytes", o.contentType)
	}
	if err != nil {
		return err
	}
	c, project, version, err := versionAt(k, args[0], o.project)
	if err != nil {
		return err
	}
	id, err := c.SendMessage(ctx, client.Queue{Project: project, Version: version, Name: args[1]}, m)
	if err != nil {
		return err
	}
	return k.Print(api.SentMessage{ID: id}, func() { k.Printf("%s", id) })
}

func newQueuesRedrive(k *kit.Kit) *cobra.Command {
	var o api.RedriveQueue
	cmd := &cobra.Command{
		Use: "redrive [PROJECT/]VERSION QUEUE", Short: "Deliver the dead messages of a queue again", Args: cobra.ExactArgs(2),
		Long: "Moves the messages that came from the queue out of its dead letter queue, oldest first. They have all their deliveries again.",
	}
	cmd.Flags().StringVar(&o.From, "from", "", "queue to take the messages from (default: the dead letter queue)")
	cmd.Flags().IntVar(&o.Limit, "limit", 0, "maximum number of messages (0 = no limit)")
	return onQueue(k, cmd, func(ctx context.Context, c *client.Client, q client.Queue) error {
		moved, err := c.RedriveQueue(ctx, q, o)
		if err != nil {
			return err
		}
		return k.Print(api.Redriven{Moved: moved}, func() { k.Notef("moved %s back to %s", messages(moved), kit.Clean(q.Name)) })
	})
}

func messages(n int) string {
	if n == 1 {
		return "1 message"
	}
	return fmt.Sprintf("%d messages", n)
}

func newQueuesPurge(k *kit.Kit) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "purge [PROJECT/]VERSION QUEUE", Short: "Delete the messages of a queue", Args: cobra.ExactArgs(2),
		Long: "Deletes the messages of a queue, those that are with the worker too. Prompts for the queue's name; use --yes when there is no terminal.",
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not prompt")
	return onQueue(k, cmd, func(ctx context.Context, c *client.Client, q client.Queue) error {
		return purgeQueue(ctx, k, c, q, yes)
	})
}

func purgeQueue(ctx context.Context, k *kit.Kit, c *client.Client, q client.Queue, yes bool) error {
	if !yes && k.CanAsk() { // no question about what does not exist
		list, err := c.Queues(ctx, q.Project, q.Version)
		if err != nil {
			return err
		}
		yes = !slices.ContainsFunc(list, func(known api.Queue) bool { return known.Name == q.Name }) // the server says what is wrong
	}
	if !yes {
		where := strings.TrimPrefix(q.Project+"/"+q.Version, "/")
		if err := k.Confirm(ctx, fmt.Sprintf("this deletes all messages of %s in %s", q.Name, where), q.Name, "--yes"); err != nil {
			return err
		}
	}
	purged, err := c.PurgeQueue(ctx, q)
	if err != nil {
		return err
	}
	return k.Print(api.Purged{Purged: purged}, func() { k.Notef("deleted %s of %s", messages(purged), kit.Clean(q.Name)) })
}
