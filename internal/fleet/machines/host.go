package machines

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svcctl/svcctl/internal/fleet/driver"
	"github.com/svcctl/svcctl/internal/fleet/join"
	"github.com/svcctl/svcctl/internal/fleet/process"
	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/lib/cputime"
	"github.com/svcctl/svcctl/internal/svc"
)

// cleanExit is the state of a worker host that has shipped everything.
const cleanExit = "exit status 0"

// killLimit is how long a host may take to end after Kill, until it counts as lost.
const killLimit = 2 * time.Second

// host is one worker host of a machine, over all its lines.
type host struct {
	fleet   *Fleet
	session string
	machine string
	name    string
	joined  time.Time
	ref     svc.Ref // of a host that came with a version
	mark    string  // likewise; "" for a spare
	dir     string
	direct  string // host:port where gateways reach its version; "" for none
	pin     string // of the certificate there
	permits *Permits
	exited  chan struct{}
	once    sync.Once

	ready, taken, leaving bool // guarded by fleet.mu

	suspicion *time.Timer // calls suspect, suspectAfter after the last answer
	suspected atomic.Bool // the host has been silent for suspectAfter

	claimed chan struct{} // closed when the claim that Take has begun is done; nil for none
	refused error         // why it failed; set before that
	located chan struct{} // closed when its version serves
	serving sync.Once

	mu      sync.Mutex // guards the fields below
	client  *control.Client
	change  chan struct{} // closed and replaced when client changes
	heard   func(control.Notice)
	early   []control.Notice
	end     driver.End
	use     control.Usage
	answer  time.Time // of the last answer
	version svc.Ref   // that it has; zero for none
	key     string    // of the start of its version, once it serves
	dataDir string
	log     *log
	closers []func()
}

var _ driver.Host = (*host)(nil)

func newHost(f *Fleet, hello join.Hello) (*host, error) {
	dir, err := process.MakeRunDir(f.cfg.RunDir)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	h := &host{
		fleet: f, session: hello.Session, machine: hello.Machine, name: hello.Name, joined: now, mark: hello.Mark, dir: dir,
		direct: hello.Direct, pin: hello.DirectPin, exited: make(chan struct{}), located: make(chan struct{}), change: make(chan struct{}), answer: now,
	}
	h.permits = newPermits(h)
	h.suspicion = time.AfterFunc(f.cfg.suspectAfter(), h.suspect)
	if hello.Ref != nil {
		h.ref = *hello.Ref
	}
	return h, nil
}

// ending is the end of a host.
type ending struct {
	driver.End

	known bool // to its machine
}

// unknown is the end of a host for a reason that the daemon has seen.
func unknown(err error) ending { return ending{End: driver.End{State: err.Error(), Err: err}} }

// PID is 0: the process is on another machine.
func (h *host) PID() int { return 0 }

// attach makes c the line.
func (h *host) attach(c *control.Client) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.client != nil {
		_ = h.client.Close() // the machine has given it up
	}
	h.client, h.answer = c, time.Now()
	h.changed()
}

// detach notes that the line c has ended. A host without a version is lost with it.
func (h *host) detach(c *control.Client) {
	h.mu.Lock()
	current := h.client == c
	spare := h.version == (svc.Ref{}) && h.mark == ""
	h.mu.Unlock()
	if current && spare {
		h.lose(ending{End: driver.End{State: "the line to the machine ended"}})
	}
}

// changed needs h.mu.
func (h *host) changed() {
	close(h.change)
	h.change = make(chan struct{})
}

// isUp reports whether there is a line, and the machine has answered lately.
func (h *host) isUp() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return up(h.client) && time.Since(h.answer) < h.fleet.cfg.Silence/2
}

// unassign takes the version away that assign was to give.
func (h *host) untake() {
	h.fleet.mu.Lock()
	defer h.fleet.mu.Unlock()
	h.taken = false
}

func up(c *control.Client) bool {
	if c == nil {
		return false
	}
	select {
	case <-c.Ended():
		return false
	default:
		return true
	}
}

// assign gives the host its version.
func (h *host) assign(spec svc.RuntimeSpec) error {
	h.fleet.has(spec.Ref)
	if err := writePlace(spec.Local.DataDir, place{Machine: h.machine, Session: h.session}); err != nil {
		return err
	}
	log, err := openLog(spec.Local.LogDir)
	if err != nil {
		return err
	}
	h.mu.Lock()
	h.version, h.dataDir, h.log = spec.Ref, spec.Local.DataDir, log
	h.mu.Unlock()
	return nil
}

// Client is the line, which may have ended.
func (h *host) Client() *control.Client {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.client
}

// await returns a line that works, and waits for it as long as the host is not lost.
func (h *host) await(ctx context.Context) (*control.Client, error) {
	for {
		h.mu.Lock()
		c, change := h.client, h.change
		h.mu.Unlock()
		if up(c) {
			return c, nil
		}
		select {
		case <-change:
		case <-h.exited:
			return nil, control.ErrClosed
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Hear is driver.Host.Hear.
func (h *host) Hear(heard func(control.Notice)) {
	h.mu.Lock()
	early := h.early
	h.heard, h.early = heard, nil
	h.mu.Unlock()
	for _, n := range early {
		heard(n)
	}
}

// onNotice handles what is for the driver, and passes the rest on.
func (h *host) onNotice(n control.Notice) {
	switch {
	case n.Call != nil:
		go h.join(*n.Call)
		return
	case n.Logs != nil:
		h.mu.Lock()
		log := h.log
		h.mu.Unlock()
		log.write(n.Logs)
		return
	case n.Leaving:
		h.fleet.leaves(h)
		return
	case n.Gone != nil:
		end := ending{driver.End{State: n.Gone.State}, true}
		if n.Gone.Err != nil {
			end.Err = n.Gone.Err
		}
		go h.lose(end) // after the machine has its answer
		return
	}
	h.mu.Lock()
	heard := h.heard
	if heard == nil {
		h.early = append(h.early, n)
	}
	h.mu.Unlock()
	if heard != nil {
		heard(n)
	}
}

// Fill leaves the paths to the machine.
func (h *host) Fill(s svc.RuntimeSpec) svc.RuntimeSpec {
	s.Local = svc.LocalSpec{Warm: s.Local.Warm}
	return s
}

// Dir is driver.Host.Dir.
func (h *host) Dir() string { return h.dir }

// Exited is driver.Host.Exited.
func (h *host) Exited() <-chan struct{} { return h.exited }

// End is driver.Host.End.
func (h *host) End() driver.End {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.end
}

// Kill is driver.Host.Kill. A machine that does not answer ends the host when it dials again.
func (h *host) Kill() {
	go func() {
		ctx, cancel := context.WithTimeout(h.fleet.life, killLimit)
		defer cancel()
		if c := h.Client(); c != nil {
			_ = c.End(ctx) // else it is lost below
		}
		select {
		case <-h.exited:
		case <-ctx.Done():
			h.lose(ending{End: driver.End{State: "killed; the machine has not confirmed it"}})
		}
	}()
}

// Work is driver.Host.Work, as of the last measurement: 0 until there is one.
func (h *host) Work() time.Duration { return h.usage().Work }

// Thread is driver.Host.Thread, as of the last measurement.
func (h *host) Thread() (d cputime.Thread, ok bool) {
	if u := h.usage(); u.Thread != nil {
		return *u.Thread, true
	}
	return d, false
}

// Usage is driver.Host.Usage, as of the last measurement.
func (h *host) Usage() driver.Usage {
	u := h.usage()
	return driver.Usage{RSSBytes: u.RSSBytes, Descriptors: u.Descriptors, CPU: u.CPU}
}

func (h *host) usage() control.Usage {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.use
}

// watch measures the host until it has ended, and loses it when it is silent.
func (h *host) watch(ctx context.Context) {
	every := h.fleet.cfg.Silence / 5
	next := time.NewTimer(every)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.exited:
			return
		case <-next.C:
		}
		if h.isLeft() {
			h.Kill() //nolint:contextcheck // does not wait
		}
		silent := h.measure(ctx)
		next.Reset(min(every, h.fleet.cfg.Silence-silent))
		if silent >= h.fleet.cfg.Silence {
			h.lose(unknown(svc.Errorf(svc.Unavailable, svc.CodeHostSilent, "the machine %s has not answered for %s", h.name, silent.Round(time.Second)).
				WithHint("see svcctl nodes")))
			return
		}
	}
}

// isLeft reports whether the host came with a version that the daemon has not taken back. Its
// version is asleep, archived, or elsewhere.
func (h *host) isLeft() bool {
	h.fleet.mu.Lock()
	defer h.fleet.mu.Unlock()
	if h.mark == "" || h.taken || time.Since(h.joined) < returnLimit {
		return false
	}
	h.taken = true
	return true
}

// measure asks the machine, at most until it counts as silent, and returns how long it has not
// answered.
func (h *host) measure(ctx context.Context) time.Duration {
	h.mu.Lock()
	c, until := h.client, h.answer.Add(h.fleet.cfg.Silence)
	h.mu.Unlock()
	if c != nil {
		ctx, cancel := context.WithDeadline(ctx, until)
		defer cancel()
		if use, err := c.Measure(ctx); err == nil {
			h.mu.Lock()
			h.use = use
			h.mu.Unlock()
			h.answered(time.Now())
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Since(h.answer)
}

// answered notes that the machine has answered.
func (h *host) answered(at time.Time) {
	h.mu.Lock()
	if at.After(h.answer) {
		h.answer = at
	}
	h.mu.Unlock()
	h.suspicion.Reset(h.fleet.cfg.suspectAfter())
	h.clearSuspicion()
}

// serves reports whether the host runs the version whose start has this key.
func (h *host) serves(ref svc.Ref, key string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.version == ref && h.key != "" && subtle.ConstantTimeCompare([]byte(h.key), []byte(key)) == 1
}

// lose ends everything of the host here. The first end stays. The version is not opened elsewhere
// while its machine may still admit requests itself.
func (h *host) lose(end ending) {
	h.once.Do(func() {
		if why := h.fleet.cfg.Policy.Ended(h.machine); why != "" && end.State != cleanExit {
			end.State += ": " + why
			if end.Err != nil {
				end.Err = fmt.Errorf("%w: %s", end.Err, why)
			}
		}
		if !end.known {
			h.permits.expire(h.fleet.life)
		}
		h.mu.Lock()
		h.end = end.End
		version, dataDir := h.version, h.dataDir
		h.mu.Unlock()
		if version != (svc.Ref{}) {
			if err := leavePlace(dataDir, place{Machine: h.machine, Unshipped: end.known && end.State != cleanExit}); err != nil && !errors.Is(err, os.ErrNotExist) {
				h.fleet.cfg.Logger.Warn("the place of a version cannot be noted", "version", version.String(), "error", err)
			}
		}
		if version != (svc.Ref{}) && !end.known {
			h.fleet.cfg.OnEvent(EventLost)
		}
		h.hangUp(end.known)
		h.fleet.lost(h, version != (svc.Ref{}) && !end.known)
		close(h.exited)
		h.clearSuspicion() // the host is lost
	})
}

// leavePlace notes that no host has the version now. Data that was deleted stays deleted.
func leavePlace(dataDir string, p place) error {
	if _, err := os.Stat(dataDir); err != nil {
		return err
	}
	return writePlace(dataDir, p)
}

// hangUp ends the line and removes the sockets. A machine that knows of the end ends the
// line itself, when its notice was heard.
func (h *host) hangUp(known bool) {
	h.mu.Lock()
	h.suspicion.Stop()
	client, closers, log := h.client, h.closers, h.log
	h.closers = nil
	h.mu.Unlock()
	switch {
	case client == nil:
	case known:
		time.AfterFunc(killLimit, func() { _ = client.Close() })
	default:
		_ = client.Close()
	}
	for _, c := range closers {
		c()
	}
	log.close()
	_ = os.RemoveAll(h.dir) // Start removes what is left
}
