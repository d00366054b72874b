package control

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/svcctl/svcctl/internal/lib/cputime"
	"github.com/svcctl/svcctl/internal/svc"
)

// Machine is the Handler of a host that runs on another machine than the daemon. The daemon
// asks it also for what it sees itself on its own machine. None of these verbs waits for the
// worker.
type Machine interface {
	Handler
	// Measure reads what the processes of the host use.
	Measure(ctx context.Context) (Usage, error)
	// Dial connects with a socket of the host: the name of a file in its run directory, "port"
	// for the version's own port, or CallPrefix and the id of a Call.
	Dial(ctx context.Context, to string) (net.Conn, error)
	// End ends the host immediately, with its workerd.
	End(ctx context.Context) error
	// Permit says for which host names the machine may admit requests itself.
	Permit(ctx context.Context, p Permit) (Admitted, error)
}

// Usage is what a worker host and its workerd use.
type Usage struct {
	RSSBytes    int64           `json:"rss_bytes"`
	Descriptors int             `json:"descriptors"`
	CPU         time.Duration   `json:"cpu"`
	Work        time.Duration   `json:"work"` // CPU time of workerd alone
	Thread      *cputime.Thread `json:"disk,omitempty"`
}

// The destinations of Machine.Dial that are no files.
const (
	DialPort   = "port"
	CallPrefix = "call:"
)

// Call is a connection of the worker to a socket of the daemon, such as a call of another
// worker. The daemon dials it by its id and joins it with the socket.
type Call struct {
	ID     string `json:"id"`
	Socket string `json:"socket"` // the name of a file
}

// Gone says that the process of the host has ended.
type Gone struct {
	State string     `json:"state"`         // for people
	Err   *svc.Error `json:"err,omitempty"` // the reason that its machine has seen
}

// Logs are entries of the worker's log in order, the first of which has the number From.
type Logs struct {
	From  uint64   `json:"from"`
	Lines [][]byte `json:"lines"` // JSON objects
}

// machineVerbs are the calls of m beside those of every Handler.
func machineVerbs(m Machine) map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"measure": verb(gives(m.Measure)),
		"end":     verb(func(ctx context.Context, _ none) (none, error) { return none{}, m.End(ctx) }),
		"dial":    dial(m),
		"permit":  verb(m.Permit),
	}
}

// Measure asks a host of another machine what its processes use.
func (c *Client) Measure(ctx context.Context) (Usage, error) {
	return call[none, Usage](ctx, c, "measure", none{})
}

// End ends a host of another machine immediately.
func (c *Client) End(ctx context.Context) error {
	_, err := call[none, none](ctx, c, "end", none{})
	return err
}
