package doctor

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// dns checks that a random host has an address: the records of DNS are
// wildcards.
func (s *site) dns(ctx context.Context) svc.Finding {
	if s.lookup == nil {
		if len(s.Hosts) > 0 {
			if one, err := s.Resolver.LookupHost(ctx, s.Hosts[0]); err == nil && !slices.ContainsFunc(one, func(a string) bool { return slices.Contains(s.found, a) }) {
				return svc.Found(svc.FindingWarning, "%s has the address %s, and %s has %s", s.random, s.found[0], s.Hosts[0], strings.Join(one, ", ")).
					WithAdvice("remove records of single hosts, or let them have the address of the wildcard")
			}
		}
		return svc.Found(svc.FindingOK, "%s has the address %s", s.random, strings.Join(s.found, ", "))
	}
	if s.onMachine() {
		return svc.Found(svc.FindingSkipped, "the gateway is for this machine only; svcctl curl, open and proxy need no DNS")
	}
	_, below, _ := strings.Cut(s.random, ".")
	advice := "add a record *." + below + " with the address of the proxy or the server to DNS"
	if missing, ok := errors.AsType[*net.DNSError](s.lookup); ok && missing.IsNotFound {
		return svc.Found(svc.FindingFailed, "%s has no address", s.random).WithAdvice("%s", advice)
	}
	return svc.Found(svc.FindingFailed, "%s: %v", s.random, s.lookup).WithAdvice("check the name server of this machine; then %s", advice)
}
