package queues

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	defaultPeek = 20
	maxPeek     = 100
)

// The states of a message.
const (
	stateReady    = "ready"
	stateDelayed  = "delayed"
	stateInFlight = "inflight"
)

// listedMessage is one message of GET /queues/{queue}/messages.
type listedMessage struct {
	ID          string          `json:"id"`
	State       string          `json:"state"`
	SentAt      *string         `json:"sent_at"`
	DueAt       *string         `json:"due_at"`
	Attempts    int64           `json:"attempts"`
	ContentType string          `json:"content_type"`
	Size        int             `json:"size_bytes"`
	DeadFrom    *string         `json:"dead_from"` // the queue that it comes from
	Body        json.RawMessage `json:"body"`
}

// The first ones in the order of delivery. ?2 and ?3 bound when they are due.
const sqlPeek = `SELECT m.id, m.key, m.sent, m.due, m.attempts, m.type, m.body, o.name
	FROM queue_message AS m LEFT JOIN queue AS o ON o.id = m.origin
	WHERE m.queue = ?1 AND m.due > ?2 AND m.due <= ?3 ORDER BY m.due, m.id LIMIT ?4`

// peek shows messages. It leases none and counts no attempt.
func (a admin) peek(q opened, w http.ResponseWriter, r *http.Request) error {
	limit, err := binding.ListLimit(r, defaultPeek, maxPeek)
	if err != nil {
		return err
	}
	state := r.URL.Query().Get("state")
	if states := []string{"", stateReady, stateDelayed, stateInFlight}; !slices.Contains(states, state) {
		return svc.Errorf(svc.BadRequest, svc.CodeInvalidParameter, "state must be ready, delayed or inflight")
	}
	now := millis(time.Now())
	after, until := int64(-1), int64(1)<<62
	switch state {
	case stateDelayed:
		after = now
	case stateReady, stateInFlight:
		until = now
	}
	leased := q.leases()
	items := []listedMessage{}
	err = q.db.Read(r.Context(), func(c *raw.Conn) error {
		return c.Query(sqlPeek, []any{q.id, after, until, limit + len(leased)}, func(s *raw.Stmt) error {
			m := listMessage(s, now, leased[s.Int64(0)])
			if len(items) < limit && (state == "" || m.State == state) {
				items = append(items, m)
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	return binding.WriteItems(w, items)
}

func listMessage(s *raw.Stmt, now int64, leased bool) listedMessage {
	body := s.Blob(6)
	m := listedMessage{
		ID: s.Text(1), State: stateReady, SentAt: stamp(s.Int64(2)), DueAt: stamp(s.Int64(3)), Attempts: s.Int64(4),
		ContentType: s.Text(5), Size: len(body),
	}
	switch {
	case leased:
		m.State = stateInFlight
	case s.Int64(3) > now:
		m.State = stateDelayed
	}
	if !s.IsNull(7) {
		origin := s.Text(7)
		m.DeadFrom = &origin
	}
	m.Body = shown(m.ContentType, body)
	return m
}

// shown is a body as JSON: the value of a message of type json, the text of one of type
// text, and {"$base64"} of others, as the API writes blobs [D33].
func shown(contentType string, body []byte) json.RawMessage {
	var value any = map[string][]byte{"$base64": body}
	switch {
	case contentType == "json" && json.Valid(body):
		return body
	case contentType == "text" && utf8.Valid(body):
		value = string(body)
	}
	text, err := json.Marshal(value)
	if err != nil { // texts can be encoded
		return json.RawMessage("null")
	}
	return text
}

// newMessage is the body of POST /queues/{queue}/messages.
type newMessage struct {
	Body        json.RawMessage `json:"body"`
	ContentType string          `json:"content_type"`
	Delay       int64           `json:"delay_seconds"`
}

// send stores one message, as a producer does.
func (a admin) send(q opened, w http.ResponseWriter, r *http.Request) error {
	var n newMessage
	if err := json.NewDecoder(r.Body).Decode(&n); err != nil {
		return svc.Errorf(svc.BadRequest, svc.CodeInvalidJSON, "the body is not a message: %v", err)
	}
	m := message{key: newKey(), contentType: cmp.Or(n.ContentType, "json"), delay: n.Delay}
	if err := m.read(n.Body); err != nil {
		return err
	}
	if err := check([]message{m}); err != nil {
		return adminError(err)
	}
	if _, err := q.send(r.Context(), []message{m}); err != nil {
		return adminError(err)
	}
	return binding.WriteJSON(w, map[string]string{"id": m.key})
}

// read takes the body of m from JSON.
func (m *message) read(body json.RawMessage) error {
	var text string
	var blob struct {
		Base64 []byte `json:"$base64"`
	}
	switch m.contentType {
	case "json":
		var compact bytes.Buffer
		if err := json.Compact(&compact, body); err != nil {
			return svc.Errorf(svc.BadRequest, svc.CodeInvalidParameter, "the message has no body")
		}
		m.body = compact.Bytes()
	case "text":
		if json.Unmarshal(body, &text) != nil {
			return svc.Errorf(svc.BadRequest, svc.CodeInvalidParameter, "the body of a message of type text must be a string")
		}
		m.body = []byte(text)
	case "bytes", "v8":
		if json.Unmarshal(body, &blob) != nil || blob.Base64 == nil {
			return svc.Errorf(svc.BadRequest, svc.CodeInvalidParameter, `the body of a message of type %s must be {"$base64": "…"}`, m.contentType)
		}
		m.body = blob.Base64
	}
	return nil
}

// adminError gives a refusal its code in the API.
func adminError(err error) error {
	no, ok := errors.AsType[*refusal](err)
	switch {
	case !ok:
		return err
	case no.status == http.StatusRequestEntityTooLarge:
		return svc.Errorf(svc.TooLarge, svc.CodeValueTooLarge, "%s", no.text)
	case no.status == http.StatusInsufficientStorage:
		return svc.Errorf(svc.Unprocessable, svc.CodeQueueMessages, "%s", no.text).WithHint("purge the queue, or raise SVC_MAX_QUEUE_MESSAGES on the server")
	}
	return svc.Errorf(svc.BadRequest, svc.CodeInvalidParameter, "%s", no.text)
}
