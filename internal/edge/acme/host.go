package acme

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"
)

const (
	// maxRunning is the number of orders that run at the same time, and maxWaiting that of
	// hosts whose orders wait for them.
	maxRunning = 8
	maxWaiting = 1000
	// firstPause is the pause after the first failed order of a host; it doubles up to
	// longestPause. With it, five orders of a host fail within an hour, which is the limit of
	// Let's Encrypt.
	firstPause   = 2 * time.Minute
	longestPause = 6 * time.Hour
	// storePause is the pause after a failure of the object store, which no authority counts.
	storePause = 5 * time.Second
)

// host is a host with a certificate, with an order, or with a failed one. Manager.mu guards it.
type host struct {
	cert     *tls.Certificate // nil before the first
	order    *order           // nil if none is under way
	failures int              // since the last order that succeeded
	err      error            // of the last order, if it failed
	retryAt  time.Time        // no order begins earlier
}

// order is under way until done is closed.
type order struct {
	done    chan struct{}
	running bool // false while it waits for others
}

// certificate returns the certificate of a host, and waits for one until ctx ends.
func (m *Manager) certificate(ctx context.Context, name string) (*tls.Certificate, error) {
	cert, done, err := m.look(name) //nolint:contextcheck // an order outlives the handshake that begins it
	if done == nil {
		return cert, err
	}
	select {
	case <-done:
	case <-ctx.Done():
		return nil, fmt.Errorf("the certificate of %s is being ordered: %w", name, context.Cause(ctx))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.hosts[name]
	switch {
	case h == nil:
		return nil, errNotServed
	case h.cert == nil || expired(h.cert):
		return nil, h.refused(name)
	}
	return h.cert, nil
}

// look returns a host's certificate, or the end of its order to wait for. It begins an order
// that is due.
func (m *Manager) look(name string) (cert *tls.Certificate, done <-chan struct{}, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.hosts[name]
	if h == nil {
		h = &host{}
		m.hosts[name] = h
	}
	usable := h.cert != nil && !expired(h.cert)
	if usable && !due(h.cert) {
		return h.cert, nil, nil
	}
	if h.order == nil && !time.Now().Before(h.retryAt) {
		err = m.begin(name, h)
	}
	switch {
	case usable:
		return h.cert, nil, nil
	case h.order != nil:
		return nil, h.order.done, nil
	case err != nil:
		return nil, nil, err
	}
	return nil, nil, h.refused(name)
}

// refused is the error for a host that has no certificate until its next order.
func (h *host) refused(name string) error {
	return fmt.Errorf("no certificate for %s, the next order is possible at %s: %w", name, h.retryAt.UTC().Format(time.RFC3339), h.err)
}

// errQueueFull refuses an order.
var errQueueFull = errors.New("too many orders of certificates wait")

// begin starts the order of a host.
func (m *Manager) begin(name string, h *host) error {
	waiting := 0
	for _, other := range m.hosts {
		if other.order != nil {
			waiting++
		}
	}
	if waiting >= maxWaiting+maxRunning {
		return errQueueFull
	}
	if m.ctx.Err() != nil {
		return context.Cause(m.ctx)
	}
	h.order = &order{done: make(chan struct{})}
	m.jobs.Go(func() { m.run(name, h) })
	return nil
}

// due reports whether less than a third of the certificate's time is left.
func due(c *tls.Certificate) bool {
	third := c.Leaf.NotAfter.Sub(c.Leaf.NotBefore) / 3
	return time.Now().After(c.Leaf.NotAfter.Add(-third))
}

func expired(c *tls.Certificate) bool { return time.Now().After(c.Leaf.NotAfter) }
