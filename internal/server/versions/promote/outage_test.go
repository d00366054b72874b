package promote_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/data/objstore/objstoretest"
	"github.com/svcctl/svcctl/internal/server/versions/promote"
	"github.com/svcctl/svcctl/internal/svc"
)

// outage is an object store that is away for a time, from the beginning of one step of a promotion on.
type outage struct {
	length time.Duration
	hangs  bool // requests get no answer, and an error otherwise, as a client gives up after its retries

	mu    sync.Mutex
	until time.Time
}

// begin lets the store be away from now on, once.
func (o *outage) begin() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.until.IsZero() {
		o.until = time.Now().Add(o.length)
	}
}

func (o *outage) back() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.until
}

// request returns an error while the store is away.
func (o *outage) request(ctx context.Context) error {
	if time.Now().After(o.back()) {
		return nil
	}
	wait := 1300 * time.Millisecond
	if o.hangs {
		wait = time.Hour
	}
	select {
	case <-time.After(wait):
		return errors.New("connection refused")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// promoteIn promotes v2 while the store is away from the beginning of a step on.
func (o *outage) promoteIn(t *testing.T, step string) (svc.Promotion, *world, *daemon) {
	t.Helper()
	w := newWorld(t)
	w.addReady(t, "v1")
	w.addReady(t, "v2")
	f := &faults{world: w}
	d := w.start(t, func(deps *promote.Deps) {
		f.use(deps)
		deps.PointerLimit = 0
		deps.Guards = func(ctx context.Context, _ svc.Ref) (bool, error) { return false, o.request(ctx) }
		deps.Bucket = &objstoretest.Hooked{Bucket: w.bucket, Around: func(ctx context.Context, _ objstoretest.Op, _ string, do func() error) error {
			if err := o.request(ctx); err != nil {
				return err
			}
			return do()
		}}
	})
	if err := d.AssignFirst(t.Context(), ref("v1")); err != nil {
		t.Fatal(err)
	}
	f.fail = func(call string) error {
		if call == "journal "+step+" started" {
			o.begin()
		}
		return nil
	}
	return d.promote(t, w, "v2"), w, d
}

// TestPromoteThroughOutage: a promotion is done although the object store is away for three seconds,
// whatever step it is in, and ends within seconds of the store's return.
// spec: [C8.7] [C8.11]
func TestPromoteThroughOutage(t *testing.T) {
	t.Parallel()
	for name, hangs := range map[string]bool{"refuses": false, "hangs": true} {
		for _, step := range []string{"validate", "drain", "pointers", "commit", "activate"} {
			t.Run(name+" in "+step, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					o := &outage{length: 3 * time.Second, hangs: hangs}
					op, w, d := o.promoteIn(t, step)
					if late := time.Since(o.back()); op.Status != svc.PromotionDone || late > 3*time.Second {
						t.Errorf("ended %s %v after the store's return: %s", op.Status, late, op.Error)
					}
					w.check(t, d.gateway, "v2")
					d.idle(t, w)
				})
			})
		}
	}
}

// TestPromoteInLongOutage: a promotion that meets a long outage is undone and says why, and requests
// reach the old version meanwhile. It ends within seconds of the store's return, too.
// spec: [C8.10]
func TestPromoteInLongOutage(t *testing.T) {
	t.Parallel()
	for name, hangs := range map[string]bool{"refuses": false, "hangs": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				o := &outage{length: 10 * time.Minute, hangs: hangs}
				op, w, d := o.promoteIn(t, "pointers")
				if op.Status != svc.PromotionFailed || !strings.HasPrefix(op.Error, "pointers: pointer_unavailable: ") {
					t.Errorf("ended %s: %q", op.Status, op.Error)
				}
				if late := time.Since(o.back()); late < 0 || late > 6*time.Second {
					t.Errorf("ended %v after the store's return", late)
				}
				w.check(t, d.gateway, "v1")
				d.idle(t, w)
			})
		})
	}
}
