package workerhost

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"syscall"

	"github.com/svcctl/svcctl/internal/host/control"
	"github.com/svcctl/svcctl/internal/host/workerd"
	"github.com/svcctl/svcctl/internal/svc"
)

// uncovered returns the first of own that no prefix of denied has: the policy with which a
// workerd was started would let its worker reach it.
func uncovered(own []netip.Addr, denied []string, p svc.NetworkPolicy) (netip.Addr, bool) {
	for _, a := range own {
		has := func(text string) bool {
			prefix, err := netip.ParsePrefix(text)
			return err == nil && prefix.Contains(a)
		}
		if !slices.ContainsFunc(denied, has) && !slices.Contains(p.Allow, netip.PrefixFrom(a, a.BitLen()).String()) {
			return a, true
		}
	}
	return netip.Addr{}, false
}

// followAddresses restarts the version when this machine gets an address that its workerd may
// reach: workerd reads its policy once. It ends with w.
func (h *Host) followAddresses(ctx context.Context, w *worker, n *workerd.Network, p svc.NetworkPolicy) {
	changes, err := addressChanges()
	if err != nil {
		h.opts.Logger.InfoContext(ctx, "addresses of this machine are not followed", "error", err)
		return
	}
	go func() { <-w.exited; _ = changes.Close() }()
	go func() {
		for buf := make([]byte, 8<<10); ; {
			own, err := ownAddresses() // before the first read too: after the policy was made
			if a, is := uncovered(own, n.Deny, p); err == nil && is {
				h.exit(control.Exit{Code: svc.CodeAddressesChanged, Detail: "this machine has the new address " + a.String() + ", which workers must not reach"})
				w.kill()
				return
			}
			if _, err := changes.Read(buf); err != nil && !errors.Is(err, syscall.ENOBUFS) { // messages were lost: look again
				return
			}
		}
	}()
}
