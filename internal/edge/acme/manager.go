package acme

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/svc"
)

// Protocol is the protocol of the authority's connections in the challenge TLS-ALPN-01.
const Protocol = "acme-tls/1"

// maxLookups bounds how many requests for challenges are looked up in the object store at the
// same time. Anyone may send them.
const maxLookups = 16

// Config configures a Manager.
type Config struct {
	Email     string         // contact of the account
	Directory string         // URL of the authority; "" for Let's Encrypt
	Roots     *x509.CertPool // of the authority's own https; nil for those of the system
	Bucket    objstore.Bucket
	Key       svc.Secret             // encrypts what is stored
	Allowed   func(host string) bool // of a name in lower case; called at each handshake
	DNS       DNS                    // instead of the challenges at HTTPS and HTTP
	Domain    string                 // hosts below it share wildcard certificates, with DNS
	Transport http.RoundTripper      // of requests to the service of DNS; nil for the default
	HTTPS     net.Addr               // where connections to port 443 of the hosts arrive
	HTTP      net.Addr               // where those to port 80 arrive; nil without the challenge HTTP-01
	Observe   func(result string)    // hears of each order: "ok" or "failed"
	Logger    *slog.Logger
}

// Manager orders and renews certificates. Its methods are safe for concurrent use.
type Manager struct {
	cfg     Config
	magic   *certmagic.Config
	cache   *certmagic.Cache // empty: hosts is the cache; the library wants one
	issuer  *certmagic.ACMEIssuer
	storage *store
	ctx     context.Context //nolint:containedctx // of the orders, which outlive handshakes
	cancel  context.CancelFunc
	jobs    sync.WaitGroup
	slots   chan struct{} // one for each order that runs
	lookups chan struct{}

	mu    sync.Mutex
	hosts map[string]*host
}

// New returns a Manager. The caller must Stop it.
func New(ctx context.Context, cfg Config) (*Manager, error) {
	storage, err := newStore(cfg.Bucket, cfg.Key)
	if err != nil {
		return nil, err
	}
	m := &Manager{
		cfg: cfg, storage: storage, slots: make(chan struct{}, cfg.maxRunning()), lookups: make(chan struct{}, maxLookups), hosts: map[string]*host{},
	}
	m.ctx, m.cancel = context.WithCancel(context.WithoutCancel(ctx))
	quiet := zap.NewNop() // the Manager logs what an operator needs
	m.cache = certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert: func(certmagic.Certificate) (*certmagic.Config, error) { return m.magic, nil }, Logger: quiet,
	})
	m.magic = certmagic.New(m.cache, certmagic.Config{
		Storage: storage, Logger: quiet, DisableStorageCheck: true, DisableARI: true, OCSP: certmagic.OCSPConfig{DisableStapling: true},
	})
	m.issuer = certmagic.NewACMEIssuer(m.magic, m.template(quiet))
	m.magic.Issuers = []certmagic.Issuer{m.issuer}
	return m, nil
}

// template describes the authority, and the ports at which it finds this server.
func (m *Manager) template(quiet *zap.Logger) certmagic.ACMEIssuer {
	directory := cmp.Or(m.cfg.Directory, certmagic.LetsEncryptProductionCA)
	host, port := split(m.cfg.HTTPS)
	t := certmagic.ACMEIssuer{
		CA: directory, TestCA: directory, Email: m.cfg.Email, Agreed: true, TrustedRoots: m.cfg.Roots, Logger: quiet,
		ListenHost: host, AltTLSALPNPort: port, DisableHTTPChallenge: m.cfg.HTTP == nil,
		DNS01Solver: m.cfg.solver(quiet),
	}
	if m.cfg.HTTP != nil {
		_, t.AltHTTPPort = split(m.cfg.HTTP)
	}
	return t
}

func split(a net.Addr) (host string, port int) {
	host, text, _ := net.SplitHostPort(a.String()) // of a TCP listener
	port, _ = strconv.Atoi(text)
	return host, port
}

// errNotServed answers handshakes of hosts that may have no certificate.
var errNotServed = errors.New("no certificate for this host: nothing is served there")

// errBusy answers challenges when too many are looked up.
var errBusy = errors.New("too many challenges at the same time")

// GetCertificate returns the certificate of the host of a handshake. It may wait for an order
// as long as the handshake does. It is for tls.Config, whose protocols include Protocol.
func (m *Manager) GetCertificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	name := strings.ToLower(strings.TrimSuffix(hello.ServerName, "."))
	if name == "" || !m.cfg.Allowed(name) {
		return nil, errNotServed
	}
	if slices.Contains(hello.SupportedProtos, Protocol) {
		return m.challenge(hello)
	}
	return m.certificate(hello.Context(), m.subject(name))
}

// challenge answers the authority's connection.
func (m *Manager) challenge(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	select {
	case m.lookups <- struct{}{}:
		defer func() { <-m.lookups }()
		return m.magic.GetCertificate(hello)
	default:
		return nil, errBusy
	}
}

// Handler answers the authority's requests to the port of plain HTTP, and passes all others on
// to next.
func (m *Manager) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !certmagic.LooksLikeHTTPChallenge(r) || !m.answer(w, r) {
			next.ServeHTTP(w, r)
		}
	})
}

func (m *Manager) answer(w http.ResponseWriter, r *http.Request) bool {
	name := r.Host
	if h, _, err := net.SplitHostPort(name); err == nil {
		name = h
	}
	if !m.cfg.Allowed(strings.ToLower(name)) {
		return false
	}
	select {
	case m.lookups <- struct{}{}:
		defer func() { <-m.lookups }()
		return m.issuer.HandleHTTPChallenge(w, r)
	default:
		return false
	}
}

// Stop cancels the orders and waits for their end.
func (m *Manager) Stop(ctx context.Context) error {
	m.cancel()
	ended := make(chan struct{})
	go func() { m.jobs.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-ctx.Done():
		return fmt.Errorf("orders of certificates: %w", context.Cause(ctx))
	}
	m.cache.Stop()
	return nil
}
