package process

import (
	"sync"

	"github.com/svcctl/svcctl/internal/host/control"
)

// hearing passes notices on, in order. Those that come before it knows where to are kept.
type hearing struct {
	mu    sync.Mutex // held during a call of heard
	heard func(control.Notice)
	early []control.Notice
}

func (h *hearing) add(n control.Notice) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.heard == nil {
		h.early = append(h.early, n)
		return
	}
	h.heard(n)
}

func (h *hearing) to(heard func(control.Notice)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.heard = heard
	for _, n := range h.early {
		heard(n)
	}
	h.early = nil
}
