package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

func newQueues(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "queues", Short: "Read and change the queues of a version", RunE: serveHelp}
	cmd.AddCommand(
		newQueuesList(k), newQueuesInfo(k), newQueuesPeek(k), newQueuesSend(k), newQueuesRedrive(k), newQueuesPurge(k),
		newQueueVerb(k, "pause", "Pause the delivery of a queue's messages", "paused", (*client.Client).PauseQueue),
		newQueueVerb(k, "resume", "Resume the delivery of a queue's messages", "resumed", (*client.Client).ResumeQueue),
	)
	addForce(k, cmd)
	return cmd
}

// onQueue is onVersion for a queue, the second argument.
func onQueue(k *kit.Kit, cmd *cobra.Command, run func(context.Context, *client.Client, client.Queue) error) *cobra.Command {
	return onVersion(k, cmd, func(ctx context.Context, v atVersion, args []string) error {
		return run(ctx, v.Client, client.Queue{Project: v.project, Version: v.version, Name: args[0]})
	})
}

func newQueuesList(k *kit.Kit) *cobra.Command {
	return newVersionList(k, versionList[api.Queue]{
		short: "List queues", read: (*client.Client).Queues,
		header: []string{"QUEUE", "STATE", "READY", "DELAYED", "IN FLIGHT", "OLDEST", "PRODUCERS", "DEAD LETTERS"},
		row: func(q api.Queue) []string {
			return []string{
				q.Name, queueState(q), fmt.Sprint(q.Ready), fmt.Sprint(q.Delayed), fmt.Sprint(q.Inflight), oldest(q), strings.Join(q.Producers, ","), optional(q.DeadLetterQueue),
			}
		},
	})
}

func optional(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// queueState says whether messages are delivered.
func queueState(q api.Queue) string {
	switch {
	case q.Paused:
		return "paused"
	case q.Consumer == nil:
		return "no consumer"
	}
	return "active"
}

func oldest(q api.Queue) string {
	if q.OldestAt == nil {
		return ""
	}
	return q.OldestAt.UTC().Format(time.RFC3339)
}

func newQueuesInfo(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "info [PROJECT/]VERSION QUEUE", Short: "Show a queue and what its consumer did", Args: cobra.ExactArgs(2)}
	return onQueue(k, cmd, func(ctx context.Context, c *client.Client, name client.Queue) error {
		return showQueue(ctx, k, c, name)
	})
}

func showQueue(ctx context.Context, k *kit.Kit, c *client.Client, name client.Queue) error {
	q, err := c.Queue(ctx, name)
	if err != nil {
		return err
	}
	return k.Print(q, func() {
		k.Printf("%s: %s", kit.Clean(q.Name), queueState(q))
		k.Printf("messages: %d ready, %d delayed, %d in flight, %d bytes", q.Ready, q.Delayed, q.Inflight, q.SizeBytes)
		if q.OldestAt != nil {
			k.Printf("oldest: %s", oldest(q))
		}
		if len(q.Producers) > 0 {
			k.Printf("producers: %s", strings.Join(q.Producers, ", "))
		}
		if q.Consumer != nil {
			printConsumer(k, q)
		}
	})
}

func printConsumer(k *kit.Kit, q api.Queue) {
	s := q.Consumer
	k.Printf("consumer: batches of %d or after %d s, %d at the same time, %d retries after %d s", s.MaxBatchSize, s.MaxBatchTimeout, s.MaxConcurrency, s.MaxRetries, s.RetryDelay)
	if q.DeadLetterQueue != nil {
		k.Printf("dead letters: %s", kit.Clean(*q.DeadLetterQueue))
	}
	k.Printf("since the start: %d acknowledged, %d retried, %d dead, %d dropped", s.Acknowledged, s.Retried, s.Dead, s.Dropped)
}

// newQueueVerb is a command that calls one operation on a queue. done is its result.
func newQueueVerb(k *kit.Kit, use, short, done string, call func(*client.Client, context.Context, client.Queue) (api.Queue, error)) *cobra.Command {
	cmd := &cobra.Command{Use: use + " [PROJECT/]VERSION QUEUE", Short: short, Args: cobra.ExactArgs(2)}
	return onQueue(k, cmd, func(ctx context.Context, c *client.Client, name client.Queue) error {
		q, err := call(c, ctx, name)
		if err != nil {
			return err
		}
		return k.Print(q, func() { k.Notef("%s %s of %s", done, kit.Clean(q.Name), name.Version) })
	})
}
