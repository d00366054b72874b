package svc_test

import (
	"errors"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

// pullRequests is the default of SVC_PR_REFS.
var pullRequests = []string{"refs/pull/*", "refs/merge-requests/*", "pull/*", "pr/*"}

// TestForkPolicy checks the rules for parents [D23].
// spec: [C2.21]
func TestForkPolicy(t *testing.T) {
	t.Parallel()
	deployed := time.UnixMilli(1)
	version := func(s svc.Status) svc.Version {
		return svc.Version{Ref: svc.Ref{Project: "shop", Version: "v1"}, Status: s, ReadyAt: deployed}
	}
	production := version(svc.StatusReady)
	production.Production = true
	draining := production
	draining.Status = svc.StatusDraining
	for name, tc := range map[string]struct {
		parent svc.Version
		ref    string
		mode   svc.ProdFork
		scrub  bool
		code   string
	}{
		"ready":                         {parent: version(svc.StatusReady), ref: "pull/1"},
		"archived":                      {parent: version(svc.StatusArchived), ref: "pull/1"},
		"draining":                      {parent: version(svc.StatusDraining), ref: "pull/1"},
		"waking":                        {parent: version(svc.StatusDeploying)},
		"pending":                       {parent: svc.Version{Status: svc.StatusPending}, code: "parent_not_ready"},
		"fetching":                      {parent: svc.Version{Status: svc.StatusFetching}, code: "parent_not_ready"},
		"branching":                     {parent: svc.Version{Status: svc.StatusBranching}, code: "parent_not_ready"},
		"preparing":                     {parent: svc.Version{Status: svc.StatusPreparing}, code: "parent_not_ready"},
		"deploying":                     {parent: svc.Version{Status: svc.StatusDeploying}, code: "parent_not_ready"},
		"qualifying":                    {parent: svc.Version{Status: svc.StatusDeployReady}, code: "parent_not_ready"},
		"failed":                        {parent: svc.Version{Status: svc.StatusFailed}, code: "parent_not_ready"},
		"destroyed":                     {parent: version(svc.StatusDestroyed), mode: svc.ProdForkAllow, code: "parent_destroyed"},
		"production":                    {parent: production, ref: "refs/heads/main"},
		"production, no ref":            {parent: production},
		"production for a pull request": {parent: production, ref: "refs/pull/7/merge", code: "fork_of_production"},
		"production, rejected":          {parent: production, ref: "pr/7", mode: svc.ProdForkReject, code: "fork_of_production"},
		"production, scrubbed":          {parent: production, ref: "refs/merge-requests/7/head", mode: svc.ProdForkScrub, scrub: true},
		"production, allowed":           {parent: production, ref: "pull/7/head", mode: svc.ProdForkAllow},
		"draining production":           {parent: draining, ref: "pull/7", code: "fork_of_production"},
		"production for a similar ref":  {parent: production, ref: "refs/heads/pull/7"},
		"production, scrubbed, main":    {parent: production, ref: "main", mode: svc.ProdForkScrub},
		"staging, scrubbed, for a pull": {parent: version(svc.StatusReady), ref: "pull/7", mode: svc.ProdForkScrub},
		"unknown mode":                  {parent: production, ref: "pull/7", mode: "perhaps", code: "fork_of_production"},
	} {
		scrub, err := svc.ForkPolicy{PRRefs: pullRequests, Production: tc.mode}.Check(tc.ref, tc.parent)
		if svc.CodeOf(err) != tc.code || err != nil && (!errors.Is(err, svc.Unprocessable) || svc.AsError(err).Hint == "") || scrub != tc.scrub {
			t.Errorf("%s: scrub %v, %v; want %v, %q", name, scrub, err, tc.scrub, tc.code)
		}
	}
}

func TestPullRequestRefs(t *testing.T) {
	t.Parallel()
	production := svc.Version{Status: svc.StatusReady, Production: true}
	for _, tc := range []struct {
		pattern, ref string
		want         bool
	}{
		{"pull/*", "pull/1", true},
		{"pull/*", "pull/1/head", true},
		{"pull/*", "pull/", true},
		{"pull/*", "pull", false},
		{"pull/*", "repull/1", false},
		{"main", "main", true},
		{"main", "mainly", false},
		{"*", "", true},
		{"refs/*/merge", "refs/pull/1/merge", true},
		{"refs/*/merge", "refs/merge", false},
		{"refs/*/merge", "refs/pull/1/merges", false},
		{"*preview*", "a-preview-b", true},
		{"*preview*", "a-review-b", false},
		{"a*b*b", "ab", false},
		{"a**b", "ab", true},
	} {
		_, err := svc.ForkPolicy{PRRefs: []string{"never", tc.pattern}}.Check(tc.ref, production)
		if got := err != nil; got != tc.want {
			t.Errorf("%q matches %q: %v", tc.pattern, tc.ref, got)
		}
	}
}

func TestParentIDs(t *testing.T) {
	t.Parallel()
	for parent, ok := range map[string]bool{"": true, "v0": true, "v1": false, "V0": false, "shop/v0": false, "../v0": false} {
		err := svc.NewVersion{Project: "shop", ID: "v1", ParentID: parent}.Validate()
		if (err == nil) != ok || err != nil && (svc.CodeOf(err) != "parent_not_found" || svc.AsError(err).Fields[0].Pointer != "/parent_version_id") {
			t.Errorf("%q: %v", parent, err)
		}
	}
	if err := (svc.NewVersion{Project: "shop", ParentID: "v0"}).Validate(); err != nil {
		t.Errorf("with a generated id: %v", err)
	}
}
