package direct

import (
	"sync"

	"github.com/svcctl/svcctl/internal/fleet/relay"
)

// Gates are the gates of a machine, by the keys of requests.
type Gates struct {
	mu   sync.Mutex
	list map[*Gate]struct{}
}

// NewGates returns an empty list.
func NewGates() *Gates { return &Gates{list: map[*Gate]struct{}{}} }

// Add adds a gate.
func (s *Gates) Add(g *Gate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list[g] = struct{}{}
}

// Remove removes a gate.
func (s *Gates) Remove(g *Gate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.list, g)
}

// find returns the gate of a request, nil for none.
func (s *Gates) find(a relay.Ask) *Gate {
	s.mu.Lock()
	defer s.mu.Unlock()
	for g := range s.list {
		if g.Is(a) {
			return g
		}
	}
	return nil
}

// Admit is relay.Config.Admit.
func (s *Gates) Admit(a relay.Ask) (relay.Admission, error) { //nolint:ireturn // what relay.Config wants
	if g := s.find(a); g != nil {
		return g.Admit(a)
	}
	return nil, &relay.MovedError{}
}

// Known is relay.Config.Known.
func (s *Gates) Known(a relay.Ask) error {
	if s.find(a) == nil {
		return &relay.MovedError{}
	}
	return nil
}
