//go:build e2e

package e2e

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// TestFaultsBranch kills the daemon while it deploys a child of production.
// After a restart the child has what its parent had, once, and the two are
// apart.
// spec: [C2.13] [C2.19]
func TestFaultsBranch(t *testing.T) {
	t.Parallel()
	for _, point := range drawn(t, 2, []string{
		"deploy/branching/started:2", "deploy/branching/forked", "deploy/branching/done:2", "deploy/preparing/started:2", "deploy/preparing/done:2",
	}) {
		t.Run(strings.ReplaceAll(point, "/", "-"), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "SVC_FAILPOINT="+point)
			parent, child := at(book, "v1"), at(book, "child")
			w.upload(child, guestbookBundle(t))
			_, err := w.client().CreateVersion(t.Context(), book, api.CreateVersion{ID: "child", ParentVersionID: &parent.Version}, "")
			if err != nil && !errors.Is(err, client.ErrUnreachable) {
				t.Fatal(err)
			}
			w.want[child] = api.VersionStatusReady
			w.signed[child] = slices.Clone(w.signed[parent])
			w.restart()
			w.check("v1")
			v := w.ended(book, "child")
			if v.ForkTXID == "" || v.ParentVersionID == nil || *v.ParentVersionID != "v1" {
				t.Errorf("it was branched at %q of %v", v.ForkTXID, v.ParentVersionID)
			}
			w.write(v, "child-only")
			w.write(w.ended(book, "v1"), "parent-only")
			w.check("v1")
		})
	}
}
