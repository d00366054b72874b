package svc

import "time"

// SubmitOptions make a create-version call idempotent [D9].
type SubmitOptions struct {
	IdempotencyKey string // header Idempotency-Key, "" for none
	BodyHash       string // hash of project and body
}

// CreateOptions are the options for creating the record of a version.
type CreateOptions struct {
	SubmitOptions
	QueueMax int        // SVC_QUEUE_MAX: limit of unfinished deploys; 0 = no limit
	Forks    ForkPolicy // which versions may be parents [D23]
}

// PromoteRequest holds the options of a promotion [D19].
type PromoteRequest struct {
	ExpectedProd *string // nil for no condition; "" requires that there is no production
	Reason       string  // for people
	LeaveWrites  bool    // the caller accepts that writes of production are left behind
}

// Upstream is where the gateway sends the requests of a version. If Status does
// not serve and there is a socket, only the verify probe reaches the version.
type Upstream struct {
	Status    Status
	Starting  bool      // the version serves and its runtime is starting: requests wait for it, with a limit
	Planned   bool      // with Starting or Asleep: the service starts the runtime on purpose; requests wait as long as for a promote
	Asleep    bool      // the version serves and has no processes: a request asks for them and waits
	RetryAt   time.Time // when a crashed runtime is started again, if requests do not wait for it; else zero
	Endpoint            // zero if no runtime listens
	BundleDir string    // where the bundle is unpacked, for its assets; "" while they are not served
	ReadOnly  bool      // the project is read-only: requests with a method that may change something are refused
	Through   bool      // in a gateway on another machine: requests pass the server's own gateway, which has the assets
}

// Route is a host name that the gateway routes, and its version [D30].
type Route struct {
	Host          string
	Role          Role
	Ref           Ref
	Upstream      Upstream
	Runtime       Runtime // zero without one
	Inflight      int
	Websockets    int
	LastRequestAt time.Time // zero before the first
}
