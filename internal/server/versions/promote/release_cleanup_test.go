package promote_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// TestReleaseSlowCleanup: the end of a release is written also when the files of its version cannot be
// deleted in time, as without the object store. Else no release of the project could begin before the
// next start of the server.
func TestReleaseSlowCleanup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d, r := releaseWorld(t)
		r.fail["fork"] = errors.New("no store")
		r.slow["fail"] = time.Hour
		if op := d.release(t, w, svc.ReleaseRequest{VersionID: "v2"}); op.Status != svc.PromotionFailed || len(op.Steps) == 0 {
			t.Errorf("%s, %s, %d steps", op.Status, op.Error, len(op.Steps))
		}
		w.check(t, d.gateway, "v1")
	})
}
