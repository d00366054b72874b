package svc_test

import (
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

func TestSameSpec(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_790_000_000, 0)
	spec := svc.RuntimeSpec{Ref: svc.Ref{Project: "p", Version: "v"}, CreatedAt: at, Local: svc.LocalSpec{DataDir: "/d", Warm: "w"}}
	if o := spec; !spec.Same(o) {
		t.Error("a spec is not the same as itself")
	}
	equal := spec
	equal.CreatedAt, equal.Env, equal.Local.Warm = at.In(time.FixedZone("east", 3600)), map[string]string{}, ""
	if !spec.Same(equal) {
		t.Error("the time zone, no overrides and Warm make a difference")
	}
	for name, change := range map[string]func(*svc.RuntimeSpec){
		"time":  func(s *svc.RuntimeSpec) { s.CreatedAt = at.Add(1) },
		"env":   func(s *svc.RuntimeSpec) { s.Env = map[string]string{"A": ""} },
		"scrub": func(s *svc.RuntimeSpec) { s.Scrub.ID = "v" },
		"host":  func(s *svc.RuntimeSpec) { s.Host.HeapMB = 1 },
		"local": func(s *svc.RuntimeSpec) { s.Local.DataDir = "/e" },
		"ids":   func(s *svc.RuntimeSpec) { s.ObjectNamespace = "n" },
	} {
		o := spec
		change(&o)
		if spec.Same(o) {
			t.Errorf("another %s makes no difference", name)
		}
	}
}
