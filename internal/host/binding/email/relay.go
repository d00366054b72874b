package email

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/smtp"
	"os"
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
	config, err := tlsConfig(to, host)
	if err != nil {
		return err
	}
	conn, err := dial(ctx, to, config)
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
	if err := converse(c, to, config, m); err != nil {
		return hide(err.Error(), to.Password)
	}
	_ = c.Quit() // the message was taken
	return nil
}

func tlsConfig(to svc.MailRelay, host string) (*tls.Config, error) {
	c := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	if to.RootCert == "" {
		return c, nil
	}
	text, err := os.ReadFile(to.RootCert)
	if err != nil {
		return nil, fmt.Errorf("the authorities of the mail server: %w", err)
	}
	c.RootCAs = x509.NewCertPool()
	if !c.RootCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("the authorities of the mail server: %s has no certificate", to.RootCert)
	}
	return c, nil
}

func dial(ctx context.Context, to svc.MailRelay, config *tls.Config) (net.Conn, error) {
	if to.TLS {
		return (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", to.Address)
	}
	return new(net.Dialer).DialContext(ctx, "tcp", to.Address)
}

func converse(c *smtp.Client, to svc.MailRelay, config *tls.Config, m *mailing) error {
	if ok, _ := c.Extension("STARTTLS"); ok && !to.TLS {
		if err := c.StartTLS(config); err != nil {
			return err
		}
	}
	if to.User != "" {
		if err := c.Auth(smtp.PlainAuth("", to.User, to.Password, config.ServerName)); err != nil { // it refuses an open connection, unless to this machine
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
