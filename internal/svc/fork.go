package svc

import (
	"slices"
	"strings"
)

// ProdFork says what happens when the parent of a pull request is production.
type ProdFork string

// The values of SVC_PROD_FORK [D23].
const (
	ProdForkReject ProdFork = "reject"
	ProdForkScrub  ProdFork = "scrub" // fork, and run the operator's SQL on the child's databases
	ProdForkAllow  ProdFork = "allow"
)

// ForkPolicy says which versions may be parents [D23]. The zero value treats no
// git ref as a pull request.
type ForkPolicy struct {
	PRRefs     []string // SVC_PR_REFS: patterns of git refs; * matches any text
	Production ProdFork // SVC_PROD_FORK; "" rejects
}

// Check rejects a parent without data to fork, and production as the parent of a
// pull request. scrub reports whether the child's databases must be scrubbed
// before it serves.
//
// Errors: Unprocessable, parent_destroyed, parent_not_ready or
// fork_of_production.
func (p ForkPolicy) Check(gitRef string, parent Version) (scrub bool, err error) {
	switch {
	case parent.Status == StatusDestroyed:
		return false, Errorf(Unprocessable, CodeParentDestroyed, "the parent %s was destroyed, and its data with it", parent.Version).
			WithHint("name another version, or none for a root version")
	case parent.Status == StatusFailed:
		return false, Errorf(Unprocessable, CodeParentNotReady, "the deploy of the parent %s failed: it has no data to fork", parent.Version).
			WithHint("name a version that has been ready")
	case !parent.wasReady():
		return false, Errorf(Unprocessable, CodeParentNotReady, "the parent %s is %s: it has no data to fork yet", parent.Version, parent.Status).
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
	return false, Errorf(Unprocessable, CodeForkOfProduction, "the parent %s is live production, and git_ref %q is a pull request's", parent.Version, gitRef).
		WithHint("name a pinned staging version as the parent")
}

// wasReady reports whether v has been ready and still has its data: it serves, is
// archived, or is being woken.
func (v Version) wasReady() bool {
	return v.Status.Serves() || v.Status == StatusArchived || v.Status.InDeploy() && !v.ReadyAt.IsZero()
}

func (p ForkPolicy) isPullRequest(gitRef string) bool {
	return slices.ContainsFunc(p.PRRefs, func(pattern string) bool { return matches(pattern, gitRef) })
}

// matches reports whether text matches pattern, in which * is any text. Unlike
// that of a shell, * matches slashes too: a pull request has several refs.
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

// NoParent returns the error of a create whose project does not have the parent.
func NoParent(project, parent string) *Error {
	return Errorf(Unprocessable, CodeParentNotFound, "project %s has no version %q to be the parent", project, parent).
		WithHint("name a version of the same project, or none for a root version")
}
