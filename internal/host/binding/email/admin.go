package email

import (
	"encoding/json"
	"mime"
	"net/http"
	"net/mail"
	"time"
	"unicode/utf8"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/svc"
)

const defaultList = 50

// Admin gives the operations on the outbox.
func (Kind) Admin(open []binding.Opened) map[string]binding.Operation {
	return map[string]binding.Operation{
		"GET /emails":         func(w http.ResponseWriter, r *http.Request) error { return list(open, w, r) },
		"GET /emails/{email}": func(w http.ResponseWriter, r *http.Request) error { return show(open, w, r) },
	}
}

// listed is one message of GET /emails.
type listed struct {
	ID         string          `json:"id"`
	At         string          `json:"at"`
	Binding    string          `json:"binding"`
	From       string          `json:"from"`
	Recipients json.RawMessage `json:"recipients"`
	Subject    string          `json:"subject"`
	State      string          `json:"state"`
	Error      string          `json:"error"`
	Size       int64           `json:"size_bytes"`
}

// shown is a message with its text.
type shown struct {
	listed

	Raw string `json:"raw"`
}

const columns = `key, at, binding, sender, recipients, subject, state, error, length(raw)`

func scan(s *raw.Stmt) listed {
	return listed{
		ID: s.Text(0), At: binding.Stamp(time.UnixMilli(s.Int64(1))), Binding: s.Text(2), From: s.Text(3),
		Recipients: json.RawMessage(s.Text(4)), Subject: s.Text(5), State: s.Text(6), Error: s.Text(7), Size: s.Int64(8),
	}
}

// of is the outbox of the version.
func of(open []binding.Opened) (*outbox, error) {
	if len(open) == 0 {
		return nil, svc.Errorf(svc.NotFound, svc.CodeBindingNotFound, "this version has no send_email binding")
	}
	return binding.InstanceOf[*outbox](open[0], "outbox")
}

func list(open []binding.Opened, w http.ResponseWriter, r *http.Request) error {
	limit, err := binding.ListLimit(r, defaultList, kept)
	if err != nil {
		return err
	}
	items := []listed{}
	o, err := of(open)
	if err == nil {
		err = o.db.Read(r.Context(), func(c *raw.Conn) error {
			return c.Query(`SELECT `+columns+` FROM email ORDER BY id DESC LIMIT ?1`, []any{limit}, func(s *raw.Stmt) error {
				items = append(items, scan(s))
				return nil
			})
		})
	}
	if err != nil {
		return err
	}
	return binding.WriteItems(w, items)
}

func show(open []binding.Opened, w http.ResponseWriter, r *http.Request) error {
	o, err := of(open)
	if err != nil {
		return err
	}
	var m *shown
	err = o.db.Read(r.Context(), func(c *raw.Conn) error {
		return c.Query(`SELECT `+columns+`, raw FROM email WHERE key = ?1`, []any{r.PathValue("email")}, func(s *raw.Stmt) error {
			m = &shown{scan(s), string(s.Blob(9))}
			return nil
		})
	})
	switch {
	case err != nil:
		return err
	case m == nil:
		return svc.Errorf(svc.NotFound, svc.CodeEmailNotFound, "the outbox has no message %q", r.PathValue("email")).
			WithHint("list the messages: svcctl email list")
	}
	return binding.WriteJSON(w, m)
}

// subjectOf is the subject for people.
func subjectOf(h mail.Header) string {
	text := h.Get("Subject")
	if decoded, err := new(mime.WordDecoder).DecodeHeader(text); err == nil && utf8.ValidString(decoded) {
		return decoded
	}
	return text
}
