package svc

import "time"

// Certificate is a certificate of https.
type Certificate struct {
	Names    []string
	Issuer   string
	NotAfter time.Time
	File     string // path; "" for an ordered one
	Ordered  bool   // from an authority, at the first handshake of its host
	Error    string // why a newer one is not in use; "" if the newest is
}

// CertificateOrder is the order of a certificate from an authority, until it succeeds.
type CertificateOrder struct {
	Host     string
	State    OrderState
	Failures int       // since the last order of the host that succeeded
	Error    string    // of the last order; "" before the first failure
	RetryAt  time.Time // the earliest time of the next order, after a failure
}

// OrderState is what becomes of an order.
type OrderState string

// The states of an order. A failed one is repeated at a handshake.
const (
	OrderWaiting OrderState = "waiting"
	OrderRunning OrderState = "running"
	OrderFailed  OrderState = "failed"
)
