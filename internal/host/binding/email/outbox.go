package email

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/mail"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/host/binding/kinds"
	"github.com/svcctl/svcctl/internal/svc"
)

const (
	maxMessage    = 25 << 20 // bytes
	maxRecipients = 50
	kept          = 1000 // messages of a version, the newest ones
)

// The states of a message.
const (
	stateStored  = "stored"  // there is no relay
	stateSending = "sending" // also after a crash of the worker host: the relay may have it
	stateSent    = "sent"
	stateFailed  = "failed"
)

const schema = `CREATE TABLE IF NOT EXISTS email (
	id         INTEGER PRIMARY KEY,
	key        TEXT NOT NULL UNIQUE, -- the id that workers and people see
	at         INTEGER NOT NULL,     -- milliseconds since 1970
	binding    TEXT NOT NULL,
	sender     TEXT NOT NULL,
	recipients TEXT NOT NULL, -- a JSON list
	subject    TEXT NOT NULL,
	state      TEXT NOT NULL,
	error      TEXT NOT NULL DEFAULT '',
	raw        BLOB NOT NULL
) STRICT;`

// outbox is the Instance of a binding. All bindings of a version share the database.
type outbox struct {
	name  string // of the binding
	rules kinds.SendEmailConfig
	relay svc.MailRelay
	db    volume.Database
}

func open(ctx context.Context, o *outbox) (*outbox, error) {
	err := o.db.Write(ctx, func(c *raw.Conn) error { return c.Script(schema) })
	if err != nil {
		return nil, fmt.Errorf("opening the outbox: %w", err)
	}
	return o, nil
}

// mailing is a message on its way.
type mailing struct {
	id         string
	from       string
	recipients []string
	raw        []byte
}

// refusal is an error of the message.
type refusal struct {
	code, message string
}

func (r *refusal) Error() string { return r.message }

func refuse(code, format string, args ...any) error {
	return &refusal{code, fmt.Sprintf(format, args...)}
}

// ServeHTTP sends one message.
func (o *outbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, err := o.send(r)
	_, _ = io.Copy(io.Discard, r.Body)
	if err == nil {
		_ = binding.WriteJSON(w, map[string]string{"id": id})
		return
	}
	refused, status := &refusal{"E_INTERNAL_SERVER_ERROR", err.Error()}, http.StatusBadGateway
	if errors.As(err, &refused) {
		status = http.StatusBadRequest
	}
	body, _ := json.Marshal(map[string]string{"code": refused.code, "message": refused.message}) // texts can be encoded
	w.Header()["Content-Type"] = []string{"application/json"}
	w.WriteHeader(status)
	_, _ = w.Write(body) // a lost connection is workerd's to report
}

func (o *outbox) send(r *http.Request) (id string, err error) {
	var large binding.Large
	defer large.Release()
	body, err := large.ReadBody(r, maxMessage*2) // attachments in base64
	if err != nil {
		return "", err
	}
	m, err := read(r, body)
	if err != nil {
		return "", err
	}
	subject, err := o.check(m)
	if err != nil {
		return "", err
	}
	state := stateStored
	if o.relay.Address != "" {
		state = stateSending
	}
	if err := o.store(r.Context(), m, subject, state); err != nil {
		return "", err
	}
	if state == stateStored {
		return m.id, nil
	}
	sendErr := relay(r.Context(), o.relay, m)
	return m.id, errors.Join(sendErr, o.finish(context.WithoutCancel(r.Context()), m.id, sendErr))
}

// read makes a mailing of what client.js sends.
func read(r *http.Request, body []byte) (*mailing, error) {
	q := r.URL.Query()
	m := &mailing{from: q.Get("from"), recipients: []string{q.Get("to")}, raw: body}
	if r.URL.Path == "/raw" {
		m.id = uuid.NewString()
		return m, nil
	}
	var parts message
	if err := json.Unmarshal(body, &parts); err != nil {
		return nil, refuse("E_VALIDATION_ERROR", "the message is not valid: %v", err)
	}
	m.from, m.recipients = parts.From.Email, parts.recipients()
	_, domain, _ := strings.Cut(m.from, "@")
	m.id = uuid.NewString() + "@" + domain
	var err error
	if m.raw, err = parts.compose(m.id, time.Now()); err != nil {
		return nil, refuse("E_VALIDATION_ERROR", "%v", err)
	}
	return m, nil
}

// check refuses what may not be sent, and gives the subject.
func (o *outbox) check(m *mailing) (subject string, err error) {
	if len(m.raw) > maxMessage {
		return "", refuse("E_CONTENT_TOO_LARGE", "the message exceeds %d MiB", maxMessage>>20)
	}
	if len(m.recipients) == 0 || len(m.recipients) > maxRecipients {
		return "", refuse("E_VALIDATION_ERROR", "a message has 1 to %d recipients", maxRecipients)
	}
	for _, a := range append([]string{m.from}, m.recipients...) {
		if parsed, err := mail.ParseAddress(a); err != nil || parsed.Address != a || strings.ContainsAny(a, "\r\n<>") {
			return "", refuse("E_VALIDATION_ERROR", "%q is not an email address", a)
		}
	}
	if !allowed(o.rules.Senders, m.from) {
		return "", refuse("E_SENDER_NOT_ALLOWED", "email from %s not allowed", m.from)
	}
	for _, to := range m.recipients {
		if !allowed(o.rules.Destinations, to) {
			return "", refuse("E_RECIPIENT_NOT_ALLOWED", "email to %s not allowed", to)
		}
	}
	parsed, err := mail.ReadMessage(bytes.NewReader(m.raw))
	if err != nil {
		return "", refuse("E_VALIDATION_ERROR", "the message has no valid headers: %v", err)
	}
	if from, err := mail.ParseAddress(parsed.Header.Get("From")); err != nil || !strings.EqualFold(from.Address, m.from) {
		return "", refuse("E_VALIDATION_ERROR", "the header From of the message is not %s", m.from)
	}
	return subjectOf(parsed.Header), nil
}

func allowed(list []string, address string) bool {
	return len(list) == 0 || slices.ContainsFunc(list, func(a string) bool { return strings.EqualFold(a, address) })
}

func (o *outbox) store(ctx context.Context, m *mailing, subject, state string) error {
	recipients, _ := json.Marshal(m.recipients) // texts can be encoded
	err := o.db.Write(ctx, func(c *raw.Conn) error {
		return c.InTx("BEGIN IMMEDIATE", func() error {
			err := c.Exec(`INSERT INTO email (key, at, binding, sender, recipients, subject, state, raw) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`,
				m.id, time.Now().UnixMilli(), o.name, m.from, string(recipients), subject, state, m.raw)
			if err != nil {
				return err
			}
			return c.Exec(`DELETE FROM email WHERE id <= (SELECT max(id) FROM email) - ?1`, kept)
		})
	})
	if err != nil {
		return fmt.Errorf("storing a message: %w", err)
	}
	return nil
}

// finish notes how the relay answered.
func (o *outbox) finish(ctx context.Context, id string, sendErr error) error {
	state, text := stateSent, ""
	if sendErr != nil {
		state, text = stateFailed, sendErr.Error()
	}
	err := o.db.Write(volume.ByPlatform(ctx), func(c *raw.Conn) error { // it has been sent
		return c.Exec(`UPDATE email SET state = ?2, error = ?3 WHERE key = ?1`, id, state, text)
	})
	if err != nil {
		return fmt.Errorf("storing the state of a message: %w", err)
	}
	return nil
}

// Stats tells the number of messages that the binding sent, of those in the outbox.
func (o *outbox) Stats(ctx context.Context) (map[string]int64, error) {
	var n int64
	err := o.db.Read(ctx, func(c *raw.Conn) error {
		return c.Query(`SELECT count(*) FROM email WHERE binding = ?1`, []any{o.name}, func(s *raw.Stmt) error { n = s.Int64(0); return nil })
	})
	return map[string]int64{"messages": n}, err
}

// History is that of the database.
func (o *outbox) History() volume.History { return o.db.History() }

// Close leaves the database to its owner.
func (*outbox) Close() error { return nil }
