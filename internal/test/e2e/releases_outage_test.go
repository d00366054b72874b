//go:build e2e

package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/data/s3/s3fault"
	"github.com/svcctl/svcctl/internal/data/s3/s3test"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// outageLimit is the limit of holds in TestReleaseWithoutStore.
const outageLimit = 4 * time.Second

// TestReleaseWithoutStore takes the object store away before a release, in its drain, and at its fork. Each
// release is undone, production answers within the limit of the hold, and no acknowledged write is
// lost. The store comes back, and a release succeeds.
func TestReleaseWithoutStore(t *testing.T) {
	t.Parallel()
	store := objectStore(t)
	d := started(t, external(store, "SVC_RELEASE_HOLD="+outageLimit.String(), "SVC_RELEASE_DRAIN=3s")...)
	v1 := d.deployHanging()
	s := d.sendTo(v1.ProdURL, 3, map[string]*http.Client{"own": d.http()}) // writes may fail while the store is away
	readers := (&remote{d: d, listen: strings.TrimPrefix(d.note.Gateway, "http://")}).visit(v1.ProdURL)

	store.Way.Down(true)
	s.undone(store, "early", func() {}, "stage", "settle")

	end := d.hang(v1)
	s.undone(store, "drained", func() {
		s.held()
		store.Way.Down(true)
		end()
	}, "settle", "drain", "pause", "seal") // on a busy machine requests wait before the hold, too

	forks := make(chan struct{}, 1)
	store.Way.Set(s3fault.Faults{Rate: 1, Kinds: []s3fault.Kind{s3fault.Hang}, Match: func(r *http.Request) bool {
		is := r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/ledger/forked/branch.json")
		if is {
			select {
			case forks <- struct{}{}:
			default:
			}
		}
		return is
	}})
	s.undone(store, "forked", func() {
		svctest.Wait(t, "the fork", forks)
		store.Way.Down(true)
	}, "fork")

	s.release(api.ReleaseVersion{VersionID: "v2"}, "own")
	readers.end("outages of the object store")
	lines := s.end()
	d.checkLines(v1.ProdURL, lines)
	if t.Logf("%d lines, %d failed", len(lines), len(s.failures())); readers.longest > 2*outageLimit {
		t.Errorf("a request waited for %s, the limit of a hold is %s", readers.longest, outageLimit)
	}
}

// undone begins a release, during which the store goes away, and waits until it was undone at one of the
// steps. Then the store comes back.
func (s *senders) undone(store *s3test.Store, version string, during func(), steps ...string) {
	t := s.d.t
	t.Helper()
	began := time.Now()
	begun, err := s.d.client().Release(t.Context(), "ledger", "check", api.ReleaseVersion{VersionID: version})
	if err != nil {
		t.Fatal(err)
	}
	during()
	p := s.d.releaseEnds("ledger", begun.OperationID)
	if step, _, _ := strings.Cut(p.Error, ":"); p.Status != api.PromotionStatusFailed || !slices.Contains(steps, step) {
		t.Errorf("%s: %s %s", version, p.Status, p.Error)
	}
	t.Logf("%s ends after %s: %s", version, time.Since(began).Round(time.Millisecond), p.Error)
	store.Way.Set(s3fault.Faults{})
	store.Way.Down(false)
	s.await("own", 20)
}
