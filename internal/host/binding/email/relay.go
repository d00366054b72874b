package email

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/smtp"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// relayTime limits the conversation with the SMTP server.
const relayTime = 30 * time.Second

// relay hands a message to the SMTP server. Errors do not tell the password.
func relay(ctx context.Context, to svc.MailRelay, m *mailing) error {
	ctx, cancel := context.WithTimeout(ctx, relayTime)
	defer cancel()
	host, _, _ := net.SplitHostPort(to.Address) // the setting was read
	conn, err := dial(ctx, to, host)
	if err != nil {
		return fmt.Errorf("the mail server is not reachable: %w", err)
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	c, err := smtp.NewClient(conn, host)
	if err != nil {
		_ = conn.Close()
		return fmt.Errorf("the mail server: %w", err)
	}
	defer c.Close()
	if err := converse(c, to, host, m); err != nil {
		return hide(err.Error(), to.Password)
	}
	_ = c.Quit() // the message was taken
	return nil
}

func dial(ctx context.Context, to svc.MailRelay, host string) (net.Conn, error) {
	if to.TLS {
		return (&tls.Dialer{Config: &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}}).DialContext(ctx, "tcp", to.Address)
	}
	return new(net.Dialer).DialContext(ctx, "tcp", to.Address)
}

func converse(c *smtp.Client, to svc.MailRelay, host string, m *mailing) error {
	if ok, _ := c.Extension("STARTTLS"); ok && !to.TLS {
		if err := c.StartTLS(&tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}); err != nil {
			return err
		}
	}
	if to.User != "" {
		if err := c.Auth(smtp.PlainAuth("", to.User, to.Password, host)); err != nil { // it refuses an open connection, unless to this machine
			return err
		}
	}
	if err := c.Mail(m.from); err != nil { //nolint:gosec // check has parsed the address
		return err
	}
	for _, a := range m.recipients {
		if err := c.Rcpt(a); err != nil { //nolint:gosec // as above
			return err
		}
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	if _, err := w.Write(m.raw); err != nil {
		return err
	}
	return w.Close()
}

// hide keeps the password out of what a server answers.
func hide(text, password string) error {
	if password != "" {
		text = strings.ReplaceAll(text, password, "[redacted]")
	}
	return errors.New("the mail server: " + text)
}
