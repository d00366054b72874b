//go:build simulate

package simulate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/data/objstore"
)

// faults are the odds of each fault.
type faults struct {
	before   float64 // an error without the effect
	after    float64 // the effect, and an error
	conflict float64 // 409 for a condition that holds
	torn     float64 // a body that ends early
	slow     float64 // an answer after up to longest
	late     float64 // an effect after the caller has left
	longest  time.Duration
}

func someFaults(rng *rand.Rand) faults {
	some := func(odds float64) float64 {
		if rng.IntN(2) == 0 {
			return 0
		}
		return odds * rng.Float64()
	}
	return faults{
		before: some(.3), after: some(.3), conflict: some(.2), torn: some(.2), slow: some(.2), late: some(1),
		longest: []time.Duration{time.Second, 30 * time.Second, 3 * time.Minute}[rng.IntN(3)],
	}
}

// take removes one pending request that may be answered now; nil for none.
func (w *world) take() *request {
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.SortStableFunc(w.pending, func(a, b *request) int {
		return cmp.Or(strings.Compare(a.name(), b.name()), cmp.Compare(a.number, b.number))
	})
	var ready []int
	for i, r := range w.pending {
		if !r.notBefore.After(time.Now()) && !r.process.cutOff {
			ready = append(ready, i)
		}
	}
	i, ok := pick(w, ready)
	if !ok {
		return nil
	}
	r := w.pending[i]
	w.pending = slices.Delete(w.pending, i, i+1)
	return r
}

// answer decides what happens to a request, and answers it.
func (w *world) answer(r *request) {
	fate := w.fate(r)
	switch fate {
	case "drop":
	case "slow":
		r.notBefore = time.Now().Add(time.Duration(1+w.rng.IntN(int(w.faults.longest/time.Millisecond))) * time.Millisecond)
		w.mu.Lock()
		w.pending = append(w.pending, r)
		w.mu.Unlock()
	case "before":
		r.err = errInjected
	case "conflict":
		r.err = fmt.Errorf("%w: %w", errInjected, objstore.ErrPrecondition)
	default:
		r.serve(w)
	}
	switch {
	case fate == "after" && r.err == nil:
		r.err = errInjected
	case fate == "torn" && r.err == nil:
		r.data = r.data[:len(r.data)/2]
	}
	w.trace.add("%s %s rejected=%v", fate, r.name(), errors.Is(r.err, objstore.ErrPrecondition))
	if fate != "slow" && fate != "drop" {
		w.requests++
		close(r.done)
	}
}

// fate chooses what happens to a request.
func (w *world) fate(r *request) string {
	w.mu.Lock()
	left := r.left
	w.mu.Unlock()
	f := w.faults
	switch {
	case left && (!r.changes() || !w.chance(f.late)):
		return "drop"
	case left:
		return "late"
	case w.chance(f.slow):
		return "slow"
	case w.chance(f.before):
		return "before"
	case w.chance(f.after) && r.changes():
		return "after"
	case w.chance(f.conflict) && r.op == "put" && r.cond != (objstore.Condition{}):
		return "conflict"
	case w.chance(f.torn) && r.op == "get":
		return "torn"
	}
	return "ok"
}

// serve does what the request asks for.
func (r *request) serve(w *world) {
	ctx := context.Background()
	switch r.op {
	case "put":
		r.info, r.err = w.store.Put(ctx, r.key, bytes.NewReader(r.body), int64(len(r.body)), r.cond)
		w.appended(r)
	case "get":
		var body io.ReadCloser
		if body, r.info, r.err = w.store.Get(ctx, r.key, r.off, r.n); r.err == nil {
			r.data, r.err = io.ReadAll(body)
		}
	case "stat":
		r.info, r.err = w.store.Stat(ctx, r.key)
	case "list":
		r.page, r.err = w.store.List(ctx, r.key, r.after, r.limit)
	case "delete":
		r.err = w.store.Delete(ctx, r.keys...)
	}
}
