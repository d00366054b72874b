package dev

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// askMessage asks for a message and its queue, which goes without saying if there is one
// queue alone.
func (w *worker) askMessage(ctx context.Context) {
	current := w.state.current()
	if current == nil {
		w.out.note("no version serves yet")
		return
	}
	list, err := w.server.Client.Queues(ctx, w.project, current.data())
	switch {
	case err != nil:
		w.out.note("queues: %v", err)
	case len(list) == 0:
		w.out.note("the worker has no queues")
	case len(list) == 1:
		w.askBody(list[0].Name)
	default:
		w.ask("queue ("+queueNames(list)+"; Esc: none): ", func(_ context.Context, answer string) error {
			w.askBody(strings.TrimSpace(answer))
			return nil
		})
	}
}

func queueNames(list []api.Queue) string {
	names := make([]string, len(list))
	for i, q := range list {
		names[i] = clean(q.Name)
	}
	return strings.Join(names, ", ")
}

func (w *worker) askBody(queue string) {
	w.ask("message for "+clean(queue)+" (JSON; Esc: none): ", func(ctx context.Context, body string) error {
		w.sendMessage(ctx, queue, body)
		return nil
	})
}

// sendMessage sends a message to a queue of the version that serves now.
func (w *worker) sendMessage(ctx context.Context, queue, body string) {
	if !json.Valid([]byte(body)) {
		w.out.note("the message is not JSON: %s", clean(body))
		return
	}
	q := client.Queue{Project: w.project, Version: w.state.current().data(), Name: queue}
	id, err := w.server.Client.SendMessage(ctx, q, api.NewMessage{ContentType: api.NewMessageContentTypeJSON, Body: json.RawMessage(body)})
	if err != nil {
		w.out.note("sending to %s: %v", clean(queue), err)
		return
	}
	w.out.line("sent to %s: message %s", clean(queue), id)
}
