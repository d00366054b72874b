package machines

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"time"

	"github.com/svcctl/svcctl/internal/fleet/join"
	"github.com/svcctl/svcctl/internal/svc"
)

// The defaults of Config.
const (
	DefaultSilence = 5 * time.Second
	DefaultWait    = time.Minute

	defaultLimit = 4096
)

// Config configures a Fleet.
type Config struct {
	Logger *slog.Logger
	Listen net.Listener // where machines dial; the Fleet closes it
	// Authority issues the daemon's certificate.
	Authority *join.Authority
	Policy    Policy
	RunDir    string // absolute and short, for sockets; owned by the Fleet
	Release   string // of this program; a machine with another one is refused
	Host      svc.HostConfig

	Silence time.Duration // after which a version is opened on another machine
	Wait    time.Duration // of a version for a spare
	// Urgent reports whether a version gets a spare before others: production. After its
	// error the version gets none. Nil: none is urgent.
	Urgent func(ctx context.Context, ref svc.Ref) (bool, error)
	// Move is called when the machine of a version stops soon: the version is to get another
	// one. It must not block. Nil: the version ends with its machine and starts again.
	Move func(svc.Ref)
	// Waiting is called when a version has waited for a host for half of Silence, and when the reason
	// changes. It must not block. Nil: nothing.
	Waiting func(ref svc.Ref, why string)
	// Generation returns the generation of the routes, which machines tell gateways; Limit is how many
	// requests and websockets one of them admits for a version. Without Generation: 0.
	Generation func() uint64
	Limit      int
	// Valid is the longest validity of a permit; 0: ValidFor(Silence). PermitsUntil returns when permits
	// must end that are given now, the zero time if another server may have taken over: then none is
	// given. Nil: no limit.
	Valid        time.Duration
	PermitsUntil func() time.Time
	// Inherited is when the permits have ended that a server before this one may have given. Until then
	// no version of its machines is opened on another one. Vanished says that it has ended without a word, so
	// that machines which are there have lost their lines, and dial.
	Inherited time.Time
	Vanished  bool
	// Ran reports whether a version may have run on a machine when this process began, although nothing is
	// known of one. Nil: none.
	Ran func(svc.Ref) bool
	// OnEvent counts what happens to hosts, for metrics. Nil: nothing.
	OnEvent func(Event)
}

// Event is something that happened to a host.
type Event string

// The events.
const (
	EventClaimed Event = "claimed" // a spare host got a version
	EventLost    Event = "lost"    // a host with a version was silent, or ended without saying why
	EventMoved   Event = "moved"   // a version was asked to leave a machine that stops
	EventRefused Event = "refused" // a machine may not join
)

// Policy decides about machines. It is what another way to get machines replaces.
type Policy interface {
	// Admit checks the proof of a machine. Its error is sent to the machine.
	Admit(ctx context.Context, h join.Hello) error
	// Choose returns the index of the spare for a version that ran on the machine last ("" if
	// that is unknown), or -1 for none of them.
	Choose(ref svc.Ref, last string, spares []Spare) int
	// Claim makes a machine the version's, before or while its host is opened. It does nothing for
	// one that is. After an error that is a Conflict the host is not used; after others the version waits.
	Claim(ctx context.Context, spec svc.RuntimeSpec, machine string) error
	// Replace has another spare started in place of a machine that was claimed. It is called when the
	// version serves, or earlier if others wait, and again after an error.
	Replace(ctx context.Context, spec svc.RuntimeSpec, machine string) error
	// Has returns the machines that a version has claimed: after a failover also one that had it before.
	Has(ref svc.Ref) (machines []string)
	// Want says how many more spares are needed than wait: versions wait for them, or their machines have
	// been silent for long. It is called when the number has changed, and must not block.
	Want(more int)
	// IsFree reports whether any version may get a spare host of the machine.
	IsFree(machine string) bool
	// Lacking says why there are few spares, as a sentence for people; "" if nothing is known.
	Lacking() string
	// Ended says why a machine has ended, as the end of a sentence; "" if nothing is known.
	Ended(machine string) string
	// Node returns the name of the node that a machine is part of; "" if it is one itself.
	Node(machine string) string
}

// Spare is a worker host that waits.
type Spare struct {
	Machine  string // identity of the machine
	Versions int    // that run on the machine
}

func (c *Config) check() error {
	if c.Logger == nil || c.Listen == nil || c.Authority == nil || c.Policy == nil || c.RunDir == "" {
		return errors.New("fleet: logger, listener, authority, policy and run directory required")
	}
	if c.Generation == nil {
		c.Generation = func() uint64 { return 0 }
	}
	c.Limit = cmp.Or(c.Limit, defaultLimit)
	c.Silence, c.Wait = cmp.Or(c.Silence, DefaultSilence), cmp.Or(c.Wait, DefaultWait)
	c.Valid = cmp.Or(c.Valid, ValidFor(c.Silence))
	if c.PermitsUntil == nil {
		c.PermitsUntil = func() time.Time { return time.Now().Add(c.Valid) }
	}
	if c.Move == nil {
		c.Move = func(svc.Ref) {}
	}
	if c.Waiting == nil {
		c.Waiting = func(svc.Ref, string) {}
	}
	if c.OnEvent == nil {
		c.OnEvent = func(Event) {}
	}
	if c.Ran == nil {
		c.Ran = func(svc.Ref) bool { return false }
	}
	if c.Urgent == nil {
		c.Urgent = func(context.Context, svc.Ref) (bool, error) { return false, nil }
	}
	return nil
}

// Tokens is the Policy of machines that show the join token.
type Tokens struct {
	// Current reads the token that is valid now.
	Current func() (join.Token, error)
}

// Admit compares the secret.
func (t Tokens) Admit(_ context.Context, h join.Hello) error {
	token, err := t.Current()
	if err != nil {
		return err
	}
	if !token.Equal(h.Secret) {
		return svc.Errorf(svc.Forbidden, svc.CodeHostTokenInvalid, "the daemon does not accept the join token: it was replaced, or belongs to another daemon").
			WithHint("get a token with svcctl admin hosts token")
	}
	return nil
}

// Choose prefers the machine that has the version's files, else the one with the fewest versions.
func (t Tokens) Choose(_ svc.Ref, last string, spares []Spare) int {
	best := -1
	for i, s := range spares {
		if s.Machine == last {
			return i
		}
		if best < 0 || s.Versions < spares[best].Versions {
			best = i
		}
	}
	return best
}

// Claim has nothing to do: a machine that shows the token may run every version.
func (t Tokens) Claim(context.Context, svc.RuntimeSpec, string) error { return nil }

// Replace has nothing to do: people start machines.
func (t Tokens) Replace(context.Context, svc.RuntimeSpec, string) error { return nil }

// Has returns none: the token says nothing about versions.
func (t Tokens) Has(svc.Ref) []string { return nil }

// IsFree returns true: the machines are for every version.
func (t Tokens) IsFree(string) bool { return true }

// Want has nothing to do: people start machines.
func (t Tokens) Want(int) {}

// Lacking knows nothing: machines are started by people.
func (t Tokens) Lacking() string { return "" }

// Ended knows nothing.
func (t Tokens) Ended(string) string { return "" }

// Node returns "": each machine is a node itself.
func (t Tokens) Node(string) string { return "" }
