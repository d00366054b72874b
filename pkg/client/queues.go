package client

import (
	"context"

	"github.com/svcctl/svcctl/pkg/api"
)

// Queues lists the queues of a version: those that its worker sends to or receives
// from, and those of dead letters.
//
// Codes: the data codes.
func (c *Client) Queues(ctx context.Context, project, version string) ([]api.Queue, error) {
	list, err := ask[api.QueueList](ctx, c, get(ofVersion+"/queues", project, version))
	return list.Items, err
}

// Queue names a queue of a version.
type Queue struct {
	Project, Version string
	Name             string
}

// Queue returns a queue.
//
// Codes: the data codes, queue_not_found.
func (c *Client) Queue(ctx context.Context, q Queue) (api.Queue, error) {
	return ask[api.Queue](ctx, c, get(ofVersion+"/queues/{queue}", q.Project, q.Version, q.Name))
}

// PeekMessages returns the first messages of a queue in the order of delivery. They are
// not leased. A state of "" stands for all states, a limit of 0 for 20; at most 100
// messages are returned.
//
// Codes: the data codes, queue_not_found.
func (c *Client) PeekMessages(ctx context.Context, q Queue, state api.MessageState, limit int) ([]api.Message, error) {
	params := api.PeekMessagesParams{State: or(state), Limit: or(limit)}
	list, err := ask[api.MessageList](ctx, c, get(ofVersion+"/queues/{queue}/messages", q.Project, q.Version, q.Name).with(params))
	return list.Items, err
}

// SendMessage sends a message as a producer of the worker does, and returns its id.
//
// Codes: the data codes, queue_not_found, value_too_large.
func (c *Client) SendMessage(ctx context.Context, q Queue, m api.NewMessage) (id string, err error) {
	sent, err := ask[api.SentMessage](ctx, c, post(ofVersion+"/queues/{queue}/messages", q.Project, q.Version, q.Name).with(c.force).json(m))
	return sent.ID, err
}

// PauseQueue stops the delivery of messages until ResumeQueue. Batches under way run to
// their end.
//
// Codes: the data codes, queue_not_found.
func (c *Client) PauseQueue(ctx context.Context, q Queue) (api.Queue, error) {
	return ask[api.Queue](ctx, c, post(ofVersion+"/queues/{queue}/pause", q.Project, q.Version, q.Name).with(c.force))
}

// ResumeQueue has the delivery of messages continue.
//
// Codes: the data codes, queue_not_found.
func (c *Client) ResumeQueue(ctx context.Context, q Queue) (api.Queue, error) {
	return ask[api.Queue](ctx, c, post(ofVersion+"/queues/{queue}/resume", q.Project, q.Version, q.Name).with(c.force))
}

// RedriveQueue moves dead messages of a queue back to it, oldest first, and returns how
// many. The zero options take all of them from the dead letter queue of its consumer.
//
// Codes: the data codes, queue_not_found, no_dead_letter_queue.
func (c *Client) RedriveQueue(ctx context.Context, q Queue, o api.RedriveQueue) (moved int, err error) {
	done, err := ask[api.Redriven](ctx, c, post(ofVersion+"/queues/{queue}/redrive", q.Project, q.Version, q.Name).with(c.force).json(o))
	return done.Moved, err
}

// PurgeQueue deletes the messages of a queue and returns how many.
//
// Codes: the data codes, queue_not_found.
func (c *Client) PurgeQueue(ctx context.Context, q Queue) (purged int, err error) {
	done, err := ask[api.Purged](ctx, c, post(ofVersion+"/queues/{queue}/purge", q.Project, q.Version, q.Name).with(c.force))
	return done.Purged, err
}
