package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// expires is the rest of a certificate's life from which the check warns, unless a quarter of
// the life is shorter: a certificate for six days is renewed later.
const expires = 14 * 24 * time.Hour

// tls checks the certificate that visitors get.
func (s *site) tls(ctx context.Context) svc.Finding {
	if s.visited.Scheme != "https" {
		if s.onMachine() {
			return svc.Found(svc.FindingSkipped, "the gateway is for this machine only")
		}
		return svc.Found(svc.FindingWarning, "visitors ask %s without encryption", s.Info.GatewayURL).
			WithAdvice("set SVC_TLS_CERT and SVC_TLS_KEY (docs/guide/tls.md), or put a proxy with TLS in front (docs/guide/proxies.md) and set GATEWAY_URL to https://…")
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	dialer := tls.Dialer{Config: &tls.Config{ServerName: s.visited.Hostname(), RootCAs: s.Roots}}
	conn, err := dialer.DialContext(ctx, "tcp", s.address())
	if err != nil {
		return s.refused(err)
	}
	defer conn.Close()
	secure, _ := conn.(*tls.Conn) // a Dialer makes no other
	leaf := secure.ConnectionState().PeerCertificates[0]
	left := leaf.NotAfter.Sub(s.Now())
	if left < min(expires, leaf.NotAfter.Sub(leaf.NotBefore)/4) {
		return svc.Found(svc.FindingWarning, "the certificate of %s ends in %s", s.visited.Hostname(), left.Round(time.Hour)).
			WithAdvice("renew the certificate, and let its renewal run by itself")
	}
	return svc.Found(svc.FindingOK, "%s has a certificate until %s", s.visited.Hostname(), leaf.NotAfter.UTC().Format(time.DateOnly))
}

// refused is the finding of a handshake that failed.
func (s *site) refused(err error) svc.Finding {
	name := s.visited.Hostname()
	if wrong, ok := errors.AsType[x509.HostnameError](err); ok {
		return svc.Found(svc.FindingFailed, "the certificate is for %v, not for %s", wrong.Certificate.DNSNames, name).
			WithAdvice("get a certificate for *.%s, and set SVC_PREVIEW_URL_TEMPLATE={scheme}://{version}--{project}.{baseDomain}:{port}, with which it covers all hosts", s.Info.BaseDomain)
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return svc.Found(svc.FindingFailed, "%s: %v", name, err).
			WithAdvice("send the whole chain of certificates, or name an authority of your own with --ca-file")
	}
	if wrong, ok := errors.AsType[x509.CertificateInvalidError](err); ok && wrong.Reason == x509.Expired {
		return svc.Found(svc.FindingFailed, "the certificate of %s is expired: %v", name, err).WithAdvice("renew the certificate")
	}
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return s.unreachable(err)
	}
	return svc.Found(svc.FindingFailed, "%s: %v", name, err).WithAdvice("let the proxy have a certificate for *.%s", s.Info.BaseDomain)
}
