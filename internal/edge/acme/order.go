package acme

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/caddyserver/certmagic"
)

// orderTime is the time limit of an order.
const orderTime = 3 * time.Minute

// errStore says that the object store failed, and not the authority.
var errStore = errors.New("the object store does not give the certificate")

// run carries out the order of a host.
func (m *Manager) run(name string, h *host) {
	cert, err := m.inTurn(name, h)
	m.mu.Lock()
	defer m.mu.Unlock()
	defer close(h.order.done)
	defer func() { h.order = nil }() // waiters hold the channel
	if err == nil {
		h.cert, h.failures, h.err, h.retryAt = cert, 0, nil, time.Time{}
		m.prune()
		return
	}
	if m.ctx.Err() != nil {
		h.err = err
		return // the Manager stops
	}
	pause := storePause
	if !errors.Is(err, errStore) {
		pause = min(firstPause<<min(h.failures, 20), longestPause)
		h.failures++
		m.cfg.Observe("failed")
	}
	h.err, h.retryAt = err, time.Now().Add(pause)
	m.cfg.Logger.Error("ordering a certificate failed; retrying at a handshake after the pause", "host", name, "error", err, "retry_at", h.retryAt)
	m.prune()
}

// inTurn waits for a free place and gets the certificate.
func (m *Manager) inTurn(name string, h *host) (*tls.Certificate, error) {
	select {
	case m.slots <- struct{}{}:
		defer func() { <-m.slots }()
	case <-m.ctx.Done():
		return nil, context.Cause(m.ctx)
	}
	m.mu.Lock()
	h.order.running = true
	m.mu.Unlock()
	ctx, cancel := context.WithTimeout(m.ctx, orderTime)
	defer cancel()
	return m.obtain(ctx, name)
}

// obtain reads the certificate of a host, and orders or renews it if necessary.
func (m *Manager) obtain(ctx context.Context, name string) (*tls.Certificate, error) {
	cert, err := m.load(ctx, name)
	switch {
	case err == nil && !due(cert):
		return cert, nil
	case err == nil:
		err = m.magic.RenewCertSync(ctx, name, false)
	case errors.Is(err, fs.ErrNotExist):
		err = m.magic.ObtainCertSync(ctx, name)
	default:
		return nil, fmt.Errorf("%w: %w", errStore, err)
	}
	if err != nil {
		return nil, err
	}
	if cert, err = m.load(ctx, name); err != nil {
		return nil, fmt.Errorf("%w: %w", errStore, err)
	}
	m.cfg.Observe("ok")
	m.cfg.Logger.InfoContext(ctx, "certificate was issued", "host", name, "issuer", cert.Leaf.Issuer.CommonName, "until", cert.Leaf.NotAfter)
	return cert, nil
}

// load reads the certificate of a host from the object store.
func (m *Manager) load(ctx context.Context, name string) (*tls.Certificate, error) {
	by := m.issuer.IssuerKey()
	key, err := m.storage.Load(ctx, certmagic.StorageKeys.SitePrivateKey(by, name))
	if err != nil {
		return nil, err
	}
	chain, err := m.storage.Load(ctx, certmagic.StorageKeys.SiteCert(by, name))
	if err != nil {
		return nil, err
	}
	cert, err := tls.X509KeyPair(chain, key)
	return &cert, err
}

// prune drops hosts that nothing serves any more, with m.mu held. Wildcards stay: they are few.
func (m *Manager) prune() {
	for name, h := range m.hosts {
		if h.order == nil && !strings.HasPrefix(name, "*.") && !m.cfg.Allowed(name) {
			delete(m.hosts, name)
		}
	}
}
