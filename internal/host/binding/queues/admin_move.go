package queues

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

// chunk is how many messages one transaction deletes or moves: other writes of the
// version wait for it.
const chunk = 500

// purge deletes the messages of a queue, those under way too: their deliveries continue.
func (a admin) purge(q opened, w http.ResponseWriter, r *http.Request) error {
	purged := 0
	for {
		n, err := q.purge(r.Context())
		if err != nil {
			return err
		}
		if purged += n; n < chunk {
			return binding.WriteJSON(w, map[string]int{"purged": purged})
		}
	}
}

// purge deletes up to chunk messages and says how many.
func (q *queue) purge(ctx context.Context) (n int, err error) {
	err = q.write(ctx, func(c *raw.Conn) error {
		n = 0
		var size int64
		err := c.Query(`DELETE FROM queue_message WHERE id IN (SELECT id FROM queue_message WHERE queue = ?1 LIMIT ?2) RETURNING coalesce(length(body), 0)`,
			[]any{q.id, chunk}, func(s *raw.Stmt) error {
				n, size = n+1, size+s.Int64(0)
				return nil
			})
		if err != nil {
			return err
		}
		return q.account(c, -n, -size)
	})
	return n, err
}

// redriveOptions is the body of POST /queues/{queue}/redrive.
type redriveOptions struct {
	From  string `json:"from"`
	Limit int    `json:"limit"`
}

// redrive moves dead messages of the queue back to it. They have all their deliveries
// again. Those that are with a consumer of the dead letter queue stay there.
func (a admin) redrive(q opened, w http.ResponseWriter, r *http.Request) error {
	var o redriveOptions
	if err := json.NewDecoder(r.Body).Decode(&o); err != nil && !errors.Is(err, io.EOF) {
		return svc.Errorf(svc.BadRequest, svc.CodeInvalidJSON, "the body: %v", err)
	}
	if c := q.consumedBy(); o.From == "" && c != nil {
		o.From = c.settings.dead
	}
	if o.From == "" {
		return svc.Errorf(svc.Unprocessable, svc.CodeNoDeadLetterQueue, "the consumer of the queue %q has no dead letter queue", q.name).
			WithHint("name the queue to take dead messages from")
	}
	from, err := a.find(o.From)
	if err != nil {
		return err
	}
	moved := 0
	for o.Limit == 0 || moved < o.Limit {
		most := chunk
		if o.Limit > 0 {
			most = min(most, o.Limit-moved)
		}
		n, err := q.redrive(r.Context(), from.queue, most)
		if err != nil {
			return err
		}
		if moved += n; n < most {
			break
		}
	}
	return binding.WriteJSON(w, map[string]int{"moved": moved})
}

// redrive moves up to most dead messages and says how many.
func (q *queue) redrive(ctx context.Context, from *queue, most int) (n int, err error) {
	leased := from.leases()
	defer from.notify()
	err = q.write(ctx, func(c *raw.Conn) error {
		var ids []int64
		n = 0
		err := c.Query(`SELECT id FROM queue_message WHERE queue = ?1 AND origin = ?2 ORDER BY due, id LIMIT ?3`,
			[]any{from.id, q.id, most + len(leased)}, func(s *raw.Stmt) error {
				if id := s.Int64(0); !leased[id] && len(ids) < most {
					ids = append(ids, id)
				}
				return nil
			})
		if err != nil {
			return err
		}
		return q.take(c, from, ids, &n)
	})
	if err == nil {
		err = from.write(ctx, func(*raw.Conn) error { return nil }) // it counts
	}
	return n, err
}

// take moves the messages with these ids to q, in c's transaction.
func (q *queue) take(c *raw.Conn, from *queue, ids []int64, n *int) error {
	var size int64
	now := millis(time.Now())
	for _, id := range ids {
		err := c.Query(`UPDATE queue_message SET queue = ?2, origin = NULL, due = ?3, attempts = 0 WHERE id = ?1 RETURNING coalesce(length(body), 0)`,
			[]any{id, q.id, now}, func(s *raw.Stmt) error {
				size += s.Int64(0)
				return nil
			})
		if err != nil {
			return err
		}
	}
	*n = len(ids)
	if err := q.account(c, *n, size); err != nil {
		return err
	}
	return from.account(c, -*n, -size)
}
