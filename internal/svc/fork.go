package svc

import (
	"slices"
	"strings"
)

// ProdFork is what a pull request gets that wants to branch off production.
type ProdFork string

// The values of SVC_PROD_FORK [D23].
const (
	ProdForkReject ProdFork = "reject"
	ProdForkScrub  ProdFork = "scrub" // the branch, after the operator's SQL has run on it
	ProdForkAllow  ProdFork = "allow"
)

// ForkPolicy says which versions may be parents [D23]. The zero value takes no
// git ref for a pull request's.
type ForkPolicy struct {
	PRRefs     []string // SVC_PR_REFS: patterns of git refs, * stands for any text
	Production ProdFork // SVC_PROD_FORK; "" rejects
}

// Check refuses a parent that has no data to branch, and production as the
// parent of a pull request. scrub says that the child's databases have to be
// scrubbed before it serves.
//
// Errors: Unprocessable, parent_destroyed, parent_not_ready or
// fork_of_production.
func (p ForkPolicy) Check(gitRef string, parent Version) (scrub bool, err error) {
	switch {
	case parent.Status == StatusDestroyed:
		return false, Errorf(Unprocessable, "parent_destroyed", "the parent %s was destroyed, and its data with it", parent.Version).
			WithHint("name another version, or none for a root version")
	case parent.Status == StatusFailed:
		return false, Errorf(Unprocessable, "parent_not_ready", "the deploy of the parent %s failed: it has no data to branch", parent.Version).
			WithHint("name a version that was ready once")
	case !parent.wasReady():
		return false, Errorf(Unprocessable, "parent_not_ready", "the parent %s is %s: it has no data to branch yet", parent.Version, parent.Status).
			WithHint("wait until it is ready")
	case !parent.Production || !p.isPullRequest(gitRef):
		return false, nil
	}
	switch p.Production {
	case ProdForkAllow:
		return false, nil
	case ProdForkScrub:
		return true, nil
	case ProdForkReject:
	}
	return false, Errorf(Unprocessable, "fork_of_production", "the parent %s is live production, and git_ref %q is a pull request's", parent.Version, gitRef).
		WithHint("name a pinned staging version as the parent")
}

// wasReady reports whether v was deployed once and has its data still: it
// serves, is archived, or is on its way from the one to the other.
func (v Version) wasReady() bool {
	return v.Status.Serves() || v.Status == StatusArchived || v.Status.InDeploy() && !v.ReadyAt.IsZero()
}

func (p ForkPolicy) isPullRequest(gitRef string) bool {
	return slices.ContainsFunc(p.PRRefs, func(pattern string) bool { return matches(pattern, gitRef) })
}

// matches reports whether text is pattern with some text for each *. Unlike
// those of a shell they stand for slashes too: a pull request has several refs.
func matches(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	last := len(parts) - 1
	if last == 0 {
		return pattern == text
	}
	rest, ok := strings.CutPrefix(text, parts[0])
	if !ok {
		return false
	}
	for _, part := range parts[1:last] {
		if _, rest, ok = strings.Cut(rest, part); !ok {
			return false
		}
	}
	return strings.HasSuffix(rest, parts[last])
}

// NoParent is the error of a create whose parent its project does not have.
func NoParent(project, parent string) *Error {
	return Errorf(Unprocessable, "parent_not_found", "project %s has no version %q to be the parent", project, parent).
		WithHint("name a version of the same project, or none for a root version")
}
