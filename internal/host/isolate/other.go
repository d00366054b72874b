//go:build !linux

package isolate

import (
	"context"
	"os/exec"

	"github.com/svcctl/svcctl/internal/svc"
)

// Lease is a uid of its own. Nothing takes one here.
type Lease struct{ UID int }

// MayTrace is true: there are no other uids.
func MayTrace() bool { return true }

func unsupported() error {
	return refuse("this system is not Linux").WithHint("run the server on Linux" + instead)
}

// Check returns an error.
func Check(string, svc.Isolation) error { return unsupported() }

// Try returns an error.
func Try(context.Context, string, svc.Isolation, string) error { return unsupported() }

// Take returns an error.
func Take(string, svc.Isolation) (*Lease, error) { return nil, unsupported() }

// Sweep does nothing.
func Sweep(string, svc.Isolation) error { return nil }

// Give returns an error.
func Give(string, int) error { return unsupported() }

// TakeBack does nothing.
func TakeBack(string) error { return nil }

// Dress returns an error.
func (*Lease) Dress(*exec.Cmd) (release func(), err error) { return nil, unsupported() }

// Bar returns an error.
func (*Lease) Bar(string) error { return unsupported() }

// Evict returns an error.
func (*Lease) Evict() error { return unsupported() }

// Close does nothing.
func (*Lease) Close() error { return nil }
