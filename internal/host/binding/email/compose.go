package email

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"slices"
	"strings"
	"time"
)

// address is one of a message in parts.
type address struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

// message is a message in parts, as client.js sends it.
type message struct {
	From        address           `json:"from"`
	To          []address         `json:"to"`
	CC          []address         `json:"cc"`
	BCC         []address         `json:"bcc"`
	ReplyTo     []address         `json:"reply_to"`
	Subject     string            `json:"subject"`
	Text        *string           `json:"text"`
	HTML        *string           `json:"html"`
	Headers     map[string]string `json:"headers"`
	Attachments []attachment      `json:"attachments"`
}

type attachment struct {
	Filename    string `json:"filename"`
	Type        string `json:"type"`
	Disposition string `json:"disposition"`
	ContentID   string `json:"content_id"`
	Content     string `json:"content"` // base64
}

// recipients are all that get the message.
func (m *message) recipients() (list []string) {
	for _, a := range slices.Concat(m.To, m.CC, m.BCC) {
		list = append(list, a.Email)
	}
	return list
}

// compose writes the text of the message.
func (m *message) compose(id string, now time.Time) ([]byte, error) {
	if m.Text == nil && m.HTML == nil {
		return nil, errors.New("a message needs text or html")
	}
	var b bytes.Buffer
	header := func(name, value string) { fmt.Fprintf(&b, "%s: %s\r\n", name, value) }
	header("From", join([]address{m.From}))
	for _, h := range []struct {
		name string
		list []address
	}{{"To", m.To}, {"Cc", m.CC}, {"Reply-To", m.ReplyTo}} {
		if len(h.list) > 0 {
			header(h.name, join(h.list))
		}
	}
	header("Subject", mime.QEncoding.Encode("utf-8", m.Subject))
	header("Date", now.Format(time.RFC1123Z))
	header("Message-ID", "<"+id+">")
	header("MIME-Version", "1.0")
	for name, value := range m.Headers {
		if !headerAllowed(name) || strings.ContainsAny(name+value, "\r\n") {
			return nil, fmt.Errorf("the header %q cannot be set", name)
		}
		header(textproto.CanonicalMIMEHeaderKey(name), mime.QEncoding.Encode("utf-8", value))
	}
	if err := m.body(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// headerAllowed reports whether a worker may set a header: a name of letters, digits and
// hyphens that is not one of the message's own.
func headerAllowed(name string) bool {
	own := []string{"from", "to", "cc", "bcc", "subject", "date", "message-id", "mime-version", "content-type", "content-transfer-encoding", "reply-to"}
	odd := func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}
	return name != "" && !strings.ContainsFunc(name, odd) && !slices.Contains(own, strings.ToLower(name))
}

func join(list []address) string {
	texts := make([]string, len(list))
	for i, a := range list {
		texts[i] = (&mail.Address{Name: a.Name, Address: a.Email}).String()
	}
	return strings.Join(texts, ", ")
}

// body writes the content: alternatives, and attachments around them.
func (m *message) body(b *bytes.Buffer) error {
	if len(m.Attachments) == 0 {
		return m.alternatives(func(contentType string) { fmt.Fprintf(b, "Content-Type: %s\r\n", contentType) }, b)
	}
	w := multipart.NewWriter(b)
	fmt.Fprintf(b, "Content-Type: multipart/mixed; boundary=%s\r\n\r\n", w.Boundary())
	var inner, head bytes.Buffer
	if err := m.alternatives(func(contentType string) { head.WriteString(contentType) }, &inner); err != nil {
		return err
	}
	extra, content, _ := strings.Cut(inner.String(), "\r\n\r\n")
	h := textproto.MIMEHeader{"Content-Type": {head.String()}}
	if name, value, ok := strings.Cut(extra, ": "); ok {
		h.Set(name, value)
	}
	if err := part(w, h, content); err != nil {
		return err
	}
	for _, a := range m.Attachments {
		if err := a.write(w); err != nil {
			return err
		}
	}
	return w.Close()
}

// alternatives writes text and HTML, after their type is given to head. What it writes
// begins with other headers, or with the empty line.
func (m *message) alternatives(head func(contentType string), b *bytes.Buffer) error {
	if m.Text == nil || m.HTML == nil {
		contentType, text := "text/plain; charset=utf-8", m.Text
		if text == nil {
			contentType, text = "text/html; charset=utf-8", m.HTML
		}
		head(contentType)
		b.WriteString("Content-Transfer-Encoding: quoted-printable\r\n\r\n" + quoted(*text))
		return nil
	}
	w := multipart.NewWriter(b)
	head("multipart/alternative; boundary=" + w.Boundary())
	b.WriteString("\r\n")
	for _, alternative := range []struct{ contentType, text string }{{"text/plain", *m.Text}, {"text/html", *m.HTML}} {
		h := textproto.MIMEHeader{"Content-Type": {alternative.contentType + "; charset=utf-8"}, "Content-Transfer-Encoding": {"quoted-printable"}}
		if err := part(w, h, quoted(alternative.text)); err != nil {
			return err
		}
	}
	return w.Close()
}

func part(w *multipart.Writer, h textproto.MIMEHeader, content string) error {
	p, err := w.CreatePart(h)
	if err != nil {
		return fmt.Errorf("composing a message: %w", err)
	}
	_, err = p.Write([]byte(content))
	return err
}

func quoted(text string) string {
	var b strings.Builder
	w := quotedprintable.NewWriter(&b)
	_, _ = w.Write([]byte(text)) // to memory
	_ = w.Close()
	return b.String()
}

func (a attachment) write(w *multipart.Writer) error {
	if _, err := base64.StdEncoding.DecodeString(a.Content); err != nil {
		return fmt.Errorf("the content of the attachment %q is not base64", a.Filename)
	}
	if strings.ContainsAny(a.Type+a.ContentID, "\r\n") || a.Disposition != "inline" && a.Disposition != "attachment" {
		return fmt.Errorf("the attachment %q has a type, an id or a disposition that cannot be sent", a.Filename)
	}
	h := textproto.MIMEHeader{
		"Content-Type": {a.Type}, "Content-Transfer-Encoding": {"base64"},
		"Content-Disposition": {mime.FormatMediaType(a.Disposition, map[string]string{"filename": a.Filename})},
	}
	if a.ContentID != "" {
		h.Set("Content-ID", "<"+strings.Trim(a.ContentID, "<>")+">")
	}
	var lines strings.Builder
	for rest := a.Content; rest != ""; {
		n := min(len(rest), 76)
		lines.WriteString(rest[:n] + "\r\n")
		rest = rest[n:]
	}
	return part(w, h, lines.String())
}
