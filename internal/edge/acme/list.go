package acme

import (
	"slices"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// List describes the certificates in memory: of hosts that had a handshake since the start.
func (m *Manager) List() []svc.Certificate {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []svc.Certificate
	for _, h := range m.hosts {
		if h.cert == nil {
			continue
		}
		leaf := h.cert.Leaf
		one := svc.Certificate{Names: leaf.DNSNames, Issuer: leaf.Issuer.CommonName, NotAfter: leaf.NotAfter, Ordered: true}
		if h.err != nil {
			one.Error = h.err.Error()
		}
		list = append(list, one)
	}
	return list
}

// forgetAfter is the time after the end of a pause from which a failed order is not shown: no
// visitor has asked for the host since.
const forgetAfter = time.Hour

// Orders describes the orders that wait, run, or have failed and not been repeated, by host.
func (m *Manager) Orders() []svc.CertificateOrder {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []svc.CertificateOrder
	for name, h := range m.hosts {
		o := svc.CertificateOrder{Host: name, Failures: h.failures}
		switch {
		case h.order != nil && h.order.running:
			o.State = svc.OrderRunning
		case h.order != nil:
			o.State = svc.OrderWaiting
		case h.err != nil && time.Since(h.retryAt) < forgetAfter:
			o.State = svc.OrderFailed
		default:
			continue
		}
		if h.err != nil {
			o.Error, o.RetryAt = h.err.Error(), h.retryAt
		}
		list = append(list, o)
	}
	slices.SortFunc(list, func(a, b svc.CertificateOrder) int { return strings.Compare(a.Host, b.Host) })
	return list
}

// Retry lets the next handshake of each host with a failed order repeat it without a pause.
func (m *Manager) Retry() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, h := range m.hosts {
		h.retryAt = time.Time{} // and Orders does not show it
	}
}
