package hyperdrive

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/svcctl/svcctl/internal/svc"
)

// tlsConfig verifies the server as db.TLS says.
func tlsConfig(db svc.ForeignDatabase) (*tls.Config, error) {
	host, _, _ := net.SplitHostPort(db.Address) // the setting was read
	c := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	c.InsecureSkipVerify = db.TLS != svc.TLSVerify // as other clients: for servers with certificates of their own
	if db.RootCert != "" {
		text, err := os.ReadFile(db.RootCert)
		if err != nil {
			return nil, err
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s has no certificate", db.RootCert)
		}
	}
	if db.TLS == svc.TLSVerifyCA {
		c.VerifyConnection = func(s tls.ConnectionState) error { return signed(s, c.RootCAs) }
	}
	return c, nil
}

// signed verifies that an authority has signed the certificate of the server, for any host.
func signed(s tls.ConnectionState, roots *x509.CertPool) error {
	if len(s.PeerCertificates) == 0 {
		return errors.New("the server has no certificate")
	}
	o := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
	for _, c := range s.PeerCertificates[1:] {
		o.Intermediates.AddCert(c)
	}
	_, err := s.PeerCertificates[0].Verify(o)
	return err
}
