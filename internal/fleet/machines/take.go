package machines

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/svcctl/svcctl/internal/fleet/driver"
	"github.com/svcctl/svcctl/internal/fleet/join"
	"github.com/svcctl/svcctl/internal/lib/backoff"
	"github.com/svcctl/svcctl/internal/svc"
)

// returnLimit is how long after its start a daemon takes versions back that run already.
const returnLimit = time.Minute

// claimRetry is the wait after a claim that failed for a reason outside the host.
const claimRetry = time.Second

// errWaited says that a version has waited for Config.Wait.
var errWaited = errors.New("no worker host was free in time")

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
	spec    svc.RuntimeSpec
	mark    string
	urgent  bool
	last    place
	claimed []string // machines that were claimed for it before this daemon had it
	ran     bool     // it may run on a machine since an earlier daemon
	began   time.Time
	hosts   chan *host // gets one
	why     error      // why the last host could not be had
	told    string     // the reason that Config.Waiting knows
}

// Take returns the host that runs spec already, or a spare one. It waits for it. Unless fresh is set,
// the host is claimed while the caller opens the version: Keep has the result.
func (f *Fleet) Take(ctx context.Context, spec svc.RuntimeSpec, fresh bool) (driver.Host, bool, error) { //nolint:ireturn // as declared
	full := spec
	full.Host = f.cfg.Host
	mark, err := join.Mark(full)
	if err != nil {
		return nil, false, err
	}
	urgent, err := f.cfg.Urgent(ctx, spec.Ref)
	if err != nil {
		return nil, false, fmt.Errorf("looking up how urgent %s is: %w", spec.Ref, err)
	}
	w := &want{spec: spec, mark: mark, urgent: urgent, last: readPlace(spec.Local.DataDir), began: time.Now(), hosts: make(chan *host, 1)}
	f.remember(w)
	limit, cancel := context.WithDeadlineCause(ctx, w.began.Add(f.cfg.Wait), errWaited)
	defer cancel()
	for {
		h, err := f.await(limit, w)
		if err != nil {
			if errors.Is(err, errWaited) {
				err = f.noSpare(spec.Ref, w.why)
			}
			return nil, false, err
		}
		if !fresh {
			return h, true, f.claimSoon(ctx, w, h)
		}
		if w.why = f.claim(limit, w, h); w.why == nil {
			return h, true, nil
		}
		f.cfg.Logger.WarnContext(ctx, "a spare worker host cannot be used", "version", spec.Ref.String(), "machine", h.name, "error", w.why)
		if !errors.Is(w.why, svc.Conflict) {
			_ = backoff.Sleep(limit, claimRetry) // await sees its error
		}
	}
}

// await waits for the host of w.
func (f *Fleet) await(ctx context.Context, w *want) (*host, error) {
	f.mu.Lock()
	f.wanting = append(f.wanting, w)
	f.mu.Unlock()
	f.offer()                                  //nolint:contextcheck // does not wait
	again := time.NewTicker(f.cfg.Silence / 2) // what is known of machines changes with time
	defer again.Stop()
	for {
		select {
		case h := <-w.hosts:
			return h, nil
		case <-again.C:
			f.offer() //nolint:contextcheck // does not wait
			f.tell(w)
			continue
		case <-ctx.Done():
		case <-f.life.Done():
		}
		f.mu.Lock()
		f.wanting = slices.DeleteFunc(f.wanting, func(o *want) bool { return o == w })
		f.updateDemand(nil)
		f.mu.Unlock()
		select {
		case h := <-w.hosts: // meanwhile
			return h, nil
		default:
		}
		return nil, cmp.Or(context.Cause(ctx), errWaited)
	}
}

// tell reports why w waits.
func (f *Fleet) tell(w *want) {
	if why := f.lacking(w.why); why != w.told {
		w.told = why
		f.cfg.Waiting(w.spec.Ref, why)
	}
}

// offer gives hosts to the versions that wait: urgent ones first, then in their order.
func (f *Fleet) offer() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.wanting) == 0 {
		f.updateDemand(nil)
		return
	}
	slices.SortStableFunc(f.wanting, func(a, b *want) int {
		switch {
		case a.urgent == b.urgent:
			return 0
		case a.urgent:
			return -1
		}
		return 1
	})
	c := f.choices()
	f.wanting = slices.DeleteFunc(f.wanting, func(w *want) bool {
		h := f.give(w, c)
		if h != nil {
			w.hosts <- h
		}
		return h != nil
	})
	f.updateDemand(c)
	if len(f.wanting) > 0 {
		close(f.crowd)
		f.crowd = make(chan struct{})
	}
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
