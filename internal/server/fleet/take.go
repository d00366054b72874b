package fleet

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/host/driver"
	"github.com/svcctl/svcctl/internal/host/join"
	"github.com/svcctl/svcctl/internal/svc"
)

// returnLimit is how long after its start a daemon takes versions back that run already.
const returnLimit = time.Minute

// placeFile is a file in the data directory that the version would have on this machine. It
// says where its data is.
const placeFile = "machine.json"

// place is where a version ran last.
type place struct {
	Machine string `json:"machine"`
	Session string `json:"session,omitempty"` // of the host, while it runs
	// Unshipped says that the host ended by a crash, and its machine is there: the machine may
	// have writes that the object store does not have.
	Unshipped bool `json:"unshipped,omitempty"`
}

// want is a version that waits for a host.
type want struct {
	spec   svc.RuntimeSpec
	mark   string
	urgent bool
	last   place
	began  time.Time
	hosts  chan *host // gets one
}

// Take returns the host that runs spec already, or a spare one. It waits for it.
func (f *Fleet) Take(ctx context.Context, spec svc.RuntimeSpec, _ bool) (driver.Host, bool, error) { //nolint:ireturn // as declared
	full := spec
	full.Host = f.cfg.Host
	mark, err := join.Mark(full)
	if err != nil {
		return nil, false, err
	}
	w := &want{spec: spec, mark: mark, urgent: f.cfg.Urgent(spec.Ref), last: readPlace(spec.Local.DataDir), began: time.Now(), hosts: make(chan *host, 1)}
	f.mu.Lock()
	f.wanting = append(f.wanting, w)
	f.mu.Unlock()
	f.offer() //nolint:contextcheck // does not wait
	h, err := f.await(ctx, w)
	if err != nil {
		return nil, false, err
	}
	if err := h.assign(spec); err != nil {
		h.Kill() //nolint:contextcheck // as above
		return nil, false, err
	}
	return h, true, nil
}

// await waits for the host of w.
func (f *Fleet) await(ctx context.Context, w *want) (*host, error) {
	limit := time.NewTimer(f.cfg.Wait)
	defer limit.Stop()
	late := time.NewTimer(f.cfg.Silence) // after which the version does not wait for a machine that has its files
	defer late.Stop()
	for {
		select {
		case h := <-w.hosts:
			return h, nil
		case <-late.C:
			f.offer() //nolint:contextcheck // does not wait
			continue
		case <-ctx.Done():
		case <-f.life.Done():
		case <-limit.C:
		}
		f.mu.Lock()
		f.wanting = slices.DeleteFunc(f.wanting, func(o *want) bool { return o == w })
		f.mu.Unlock()
		select {
		case h := <-w.hosts: // meanwhile
			return h, nil
		default:
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, f.noSpare(w.spec.Ref)
	}
}

// offer gives hosts to the versions that wait: urgent ones first, then in their order.
func (f *Fleet) offer() {
	f.mu.Lock()
	defer f.mu.Unlock()
	slices.SortStableFunc(f.wanting, func(a, b *want) int {
		switch {
		case a.urgent == b.urgent:
			return 0
		case a.urgent:
			return -1
		}
		return 1
	})
	f.wanting = slices.DeleteFunc(f.wanting, func(w *want) bool {
		h := f.choose(w)
		if h != nil {
			h.taken = true
			w.hosts <- h
		}
		return h != nil
	})
}

// choose returns the host for w, nil for none yet. The caller holds f.mu.
func (f *Fleet) choose(w *want) *host {
	for _, h := range f.hosts {
		if h.mark != "" && !h.taken && h.ref == w.spec.Ref && h.isUp() {
			if h.mark == w.mark {
				return h
			}
			h.taken = true // it runs with other settings
			h.Kill()
		}
	}
	waits := time.Since(w.began) < f.cfg.Silence
	if w.last.Session != "" && waits && time.Since(f.started) < returnLimit {
		return nil // an earlier daemon had it there: it dials soon
	}
	var spares []*host
	for _, h := range f.spares() {
		if h.isUp() && (!w.last.Unshipped || !waits || h.machine == w.last.Machine) {
			spares = append(spares, h)
		}
	}
	list := make([]Spare, len(spares))
	for i, h := range spares {
		list[i].Machine = h.machine
		for _, o := range f.hosts {
			if o.machine == h.machine && o.taken {
				list[i].Versions++
			}
		}
	}
	if i := f.cfg.Policy.Choose(w.spec.Ref, w.last.Machine, list); i >= 0 {
		return spares[i]
	}
	return nil
}

// readPlace returns the zero place if none is known.
func readPlace(dataDir string) (p place) {
	if data, err := os.ReadFile(filepath.Join(dataDir, placeFile)); err == nil {
		_ = json.Unmarshal(data, &p) // a damaged file says nothing
	}
	return p
}

// writePlace also makes the directory, by which the supervisor knows that a version has data.
func writePlace(dataDir string, p place) error {
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return err
	}
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dataDir, placeFile), data, 0o600)
}
