package queues

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

var (
	_ binding.Admin    = producers{}
	_ binding.Measured = (*producer)(nil)
	_ binding.Stored   = (*producer)(nil)
	_ binding.Measured = (*consumer)(nil)
	_ binding.Stored   = (*consumer)(nil)
)

// Admin gives the operations on queues [D36].
func (producers) Admin(open []binding.Opened) map[string]binding.Operation {
	a := admin{open}
	return map[string]binding.Operation{
		"GET /queues":                   binding.Timed(a.list),
		"GET /queues/{queue}":           a.one(a.describe),
		"GET /queues/{queue}/messages":  a.one(a.peek),
		"POST /queues/{queue}/messages": a.one(a.send),
		"POST /queues/{queue}/pause":    a.one(a.pause(true)),
		"POST /queues/{queue}/resume":   a.one(a.pause(false)),
		"POST /queues/{queue}/redrive":  a.one(a.redrive),
		"POST /queues/{queue}/purge":    a.one(a.purge),
	}
}

// admin is the API's way to the queues of a version: those of the bindings and those
// that a consumer names.
type admin struct{ open []binding.Opened }

// opened is a queue and the bindings that send to it.
type opened struct {
	*queue

	producers []string
}

// queues are the open queues, in the order of the manifest.
func (a admin) queues() (list []opened, err error) {
	for _, o := range a.open {
		p, err := binding.InstanceOf[*producer](o, "queue")
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(list, func(q opened) bool { return q.queue == p.queue })
		if i < 0 {
			i = len(list)
			list = append(list, opened{p.queue, []string{}})
		}
		if o.Name != "" {
			list[i].producers = append(list[i].producers, o.Name)
		}
	}
	return list, nil
}

// find gives the queue of that name.
func (a admin) find(name string) (opened, error) {
	list, err := a.queues()
	if err != nil {
		return opened{}, err
	}
	names := make([]string, len(list))
	for i, q := range list {
		if q.name == name {
			return q, nil
		}
		names[i] = q.name
	}
	if len(list) == 0 {
		return opened{}, svc.Errorf(svc.NotFound, svc.CodeQueueNotFound, "this version has no queue")
	}
	return opened{}, svc.Errorf(svc.NotFound, svc.CodeQueueNotFound, "%q is no queue of this version", name).
		WithHint("it has %s", strings.Join(names, ", "))
}

// one finds the queue that a path names.
func (a admin) one(do func(opened, http.ResponseWriter, *http.Request) error) binding.Operation {
	return binding.Timed(func(w http.ResponseWriter, r *http.Request) error {
		q, err := a.find(r.PathValue("queue"))
		if err != nil {
			return err
		}
		return do(q, w, r)
	})
}

func (a admin) list(w http.ResponseWriter, r *http.Request) error {
	list, err := a.queues()
	if err != nil {
		return err
	}
	items := make([]listedQueue, len(list))
	for i, q := range list {
		if items[i], err = q.listed(r.Context()); err != nil {
			return err
		}
	}
	return binding.WriteItems(w, items)
}

func (a admin) describe(q opened, w http.ResponseWriter, r *http.Request) error {
	item, err := q.listed(r.Context())
	if err != nil {
		return err
	}
	return binding.WriteJSON(w, item)
}

// pause stops the delivery of a queue's messages, or has it continue.
func (a admin) pause(paused bool) func(opened, http.ResponseWriter, *http.Request) error {
	return func(q opened, w http.ResponseWriter, r *http.Request) error {
		if err := q.setPaused(r.Context(), paused); err != nil {
			return err
		}
		return a.describe(q, w, r)
	}
}

// setPaused is in the data, so a restart and a child keep it.
func (q *queue) setPaused(ctx context.Context, paused bool) error {
	err := q.write(ctx, func(c *raw.Conn) error { return c.Exec(`UPDATE queue SET paused = ?2 WHERE id = ?1`, q.id, paused) })
	if err != nil {
		return err
	}
	q.mu.Lock()
	q.paused = paused
	q.mu.Unlock()
	q.notify()
	return nil
}

// History is that of the database.
func (q *queue) History() volume.History { return q.db.History() }

// Stats tells the number of messages and the bytes of their bodies.
func (q *queue) Stats(ctx context.Context) (map[string]int64, error) {
	m, err := q.metrics(ctx)
	return map[string]int64{"messages": m.Count, "size_bytes": m.Bytes}, err
}
