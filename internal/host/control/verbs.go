package control

import (
	"context"
	"net/http"
	"time"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/svc"
)

// Handler does what a daemon asks of a host. Its methods run concurrently. Their
// contexts end when the daemon cancels the call, and when the line ends.
type Handler interface {
	// Warm prepares a host for a version that it gets by Open.
	Warm(ctx context.Context, s Spare) error
	// Stage is all of Open that does not need the version's data. Open follows with the same spec,
	// but for its Parent and Local.Warm, when the data exists.
	Stage(ctx context.Context, s svc.RuntimeSpec) error
	Open(ctx context.Context, s svc.RuntimeSpec) error
	Prepare(ctx context.Context) (svc.Prepared, error)
	// Serve leaves the fields of the endpoint that describe the host to the daemon.
	Serve(ctx context.Context) (svc.Endpoint, error)
	Ping(ctx context.Context) (Pong, error)
	Cut(ctx context.Context) (branch.VersionCut, error)
	// Seal is one step of a release.
	Seal(ctx context.Context, s Seal) (Sealing, error)
	// Positions says where the data of an open version begins.
	Positions(ctx context.Context) (Positions, error)
	Archive(ctx context.Context, s svc.RuntimeSpec) error
	// Stop says when the version must run next for its own work.
	Stop(ctx context.Context, s Stop) (svc.Wake, error)
	// Dispatch sends the worker an event and waits until it is over. An error means
	// that the worker did not see it.
	Dispatch(ctx context.Context, e svc.Event) (svc.EventResult, error)
	// Arm says whether the version is armed: not what to do, but how it is to be.
	Arm(ctx context.Context, armed bool) error
	// Events says whether the version gets events.
	Events(ctx context.Context, on bool) error
	// ReadOnly says whether the project of the version is read-only: then the writes of the worker
	// fail and no event begins.
	ReadOnly(ctx context.Context, on bool) error
	NextWake(ctx context.Context) (svc.Wake, error)
	// PageOut moves the memory of host and workerd to swap.
	PageOut(ctx context.Context) (svc.PagedOut, error)
	// ShowFiles has the worker read the static files of an unpacked bundle.
	ShowFiles(ctx context.Context, bundleDir string) error
	// Data answers a request for the version's data, errors by WriteError.
	Data(w http.ResponseWriter, r *http.Request)
}

// Stopped is a Handler that ends with Stop.
type Stopped interface {
	// Stopped is called after each Stop. What the host sends then reaches the daemon after the answer.
	Stopped()
}

// verbs are the calls of h by their names.
func verbs(h Handler) map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"warm":      verb(takes(h.Warm)),
		"stage":     verb(takes(h.Stage)),
		"open":      verb(takes(h.Open)),
		"prepare":   verb(gives(h.Prepare)),
		"serve":     verb(gives(h.Serve)),
		"ping":      verb(gives(h.Ping)),
		"cut":       verb(gives(h.Cut)),
		"seal":      verb(h.Seal),
		"positions": verb(gives(h.Positions)),
		"archive":   verb(takes(h.Archive)),
		"stop":      stop(h),
		"dispatch":  verb(h.Dispatch),
		"arm":       verb(takes(h.Arm)),
		"events":    verb(takes(h.Events)),
		"read-only": verb(takes(h.ReadOnly)),
		"next-wake": verb(gives(h.NextWake)),
		"page-out":  verb(gives(h.PageOut)),
		"files":     verb(takes(h.ShowFiles)),
	}
}

// stop writes the answer before the process of h can end.
func stop(h Handler) http.HandlerFunc {
	do := verb(h.Stop)
	s, ends := h.(Stopped)
	if !ends {
		return do
	}
	return func(w http.ResponseWriter, r *http.Request) {
		defer s.Stopped()
		do(w, r)
		_ = http.NewResponseController(w).Flush() // it fails when the line has ended
	}
}

// Warm has a host without a version start a workerd that waits for one.
func (c *Client) Warm(ctx context.Context, s Spare) error {
	_, err := call[Spare, none](ctx, c, "warm", s)
	return err
}

// Stage gives a host all of a version but its data, which Open gives.
func (c *Client) Stage(ctx context.Context, s svc.RuntimeSpec) error {
	_, err := call[svc.RuntimeSpec, none](ctx, c, "stage", s)
	return err
}

// Seal is one step of a release.
func (c *Client) Seal(ctx context.Context, s Seal) (Sealing, error) {
	return call[Seal, Sealing](ctx, c, "seal", s)
}

// Positions asks an open version where its data begins.
func (c *Client) Positions(ctx context.Context) (Positions, error) {
	return call[none, Positions](ctx, c, "positions", none{})
}

// Events says whether an open version gets events.
func (c *Client) Events(ctx context.Context, on bool) error {
	_, err := call[bool, none](ctx, c, "events", on)
	return err
}

// ReadOnly says whether the project of an open version is read-only.
func (c *Client) ReadOnly(ctx context.Context, on bool) error {
	_, err := call[bool, none](ctx, c, "read-only", on)
	return err
}

// Open gives the host its version: the host opens the data.
func (c *Client) Open(ctx context.Context, s svc.RuntimeSpec) error {
	_, err := call[svc.RuntimeSpec, none](ctx, c, "open", s)
	return err
}

// Prepare applies the version's migrations.
func (c *Client) Prepare(ctx context.Context) (svc.Prepared, error) {
	return call[none, svc.Prepared](ctx, c, "prepare", none{})
}

// Serve starts workerd and returns when every socket listens.
func (c *Client) Serve(ctx context.Context) (svc.Endpoint, error) {
	return call[none, svc.Endpoint](ctx, c, "serve", none{})
}

// Ping asks whether workerd's event loop runs, and for the state of the data.
func (c *Client) Ping(ctx context.Context) (Pong, error) {
	return call[none, Pong](ctx, c, "ping", none{})
}

// Cut asks an open version for a cut of its data.
func (c *Client) Cut(ctx context.Context) (branch.VersionCut, error) {
	return call[none, branch.VersionCut](ctx, c, "cut", none{})
}

// Archive has a host that was not asked to open a version ship its data to the
// object store; the host then exits.
func (c *Client) Archive(ctx context.Context, s svc.RuntimeSpec) error {
	_, err := call[svc.RuntimeSpec, none](ctx, c, "archive", s)
	return err
}

// Stop ends workerd and closes the data, and returns when the version must run next for
// its own work; the host then exits.
func (c *Client) Stop(ctx context.Context, grace time.Duration) (svc.Wake, error) {
	return call[Stop, svc.Wake](ctx, c, "stop", Stop{grace})
}

// Dispatch sends the worker an event and waits until it is over; the end of ctx
// ends the event. An error is an svc.Error, of an event that the worker did not
// see, or the end of ctx or of the line.
func (c *Client) Dispatch(ctx context.Context, e svc.Event) (svc.EventResult, error) {
	return call[svc.Event, svc.EventResult](ctx, c, "dispatch", e)
}

// Arm says whether an open version is armed.
func (c *Client) Arm(ctx context.Context, armed bool) error {
	_, err := call[bool, none](ctx, c, "arm", armed)
	return err
}

// NextWake asks an open version when it needs to run next, for work of its own.
func (c *Client) NextWake(ctx context.Context) (svc.Wake, error) {
	return call[none, svc.Wake](ctx, c, "next-wake", none{})
}

// PageOut has a host that serves move the memory of itself and of workerd to swap.
func (c *Client) PageOut(ctx context.Context) (svc.PagedOut, error) {
	return call[none, svc.PagedOut](ctx, c, "page-out", none{})
}

// ShowFiles has the worker of an open version read the static files of the bundle in a
// directory of this machine.
func (c *Client) ShowFiles(ctx context.Context, bundleDir string) error {
	_, err := call[string, none](ctx, c, "files", bundleDir)
	return err
}
