package svc_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
)

// TestBranches: children follow parents, and of destroyed versions only those that the
// tree needs are in it.
func TestBranches(t *testing.T) {
	t.Parallel()
	version := func(id, parent string, status svc.Status) svc.Version {
		return svc.Version{Ref: svc.Ref{Project: "p", Version: id}, ParentID: parent, Status: status}
	}
	list := svc.Branches([]svc.Version{
		version("a", "", svc.StatusReady), version("b", "", svc.StatusDestroyed), version("c", "a", svc.StatusDestroyed),
		version("d", "b", svc.StatusReady), version("e", "a", svc.StatusReady), version("f", "", svc.StatusDestroyed), version("g", "f", svc.StatusDestroyed),
	}, func(id string) bool { return id == "g" })
	var got []string
	for _, b := range list {
		got = append(got, fmt.Sprintf("%s%d:%d", b.Version.Version, b.Depth, b.Children))
	}
	if want := "a0:1 e1:0 b0:1 d1:0 f0:1 g1:0"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
