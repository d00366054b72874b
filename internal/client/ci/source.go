package ci

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os/exec"
	"strings"
	"time"
)

// gitLimit bounds a call of git: a repository on a slow disk must not hold a deploy.
const gitLimit = 10 * time.Second

// Source is the commit that a deploy is made of.
type Source struct {
	Ref string // "refs/heads/main"; "" if unknown
	SHA string // with "+dirty" if tracked files differ from it; "" if unknown
}

// Environ are the variables of a process.
type Environ map[string]string

// NewEnviron reads a list of NAME=value.
func NewEnviron(list []string) Environ {
	env := Environ{}
	for _, entry := range list {
		if name, value, ok := strings.Cut(entry, "="); ok {
			env[name] = value
		}
	}
	return env
}

// Provider is the name of the environment: github, gitlab, bitbucket, buildkite or
// jenkins; "" outside of them.
func (e Environ) Provider() string {
	switch {
	case e["GITHUB_ACTIONS"] == "true":
		return "github"
	case e["GITLAB_CI"] == "true":
		return "gitlab"
	case e["BITBUCKET_BUILD_NUMBER"] != "":
		return "bitbucket"
	case e["BUILDKITE"] == "true":
		return "buildkite"
	case e["JENKINS_URL"] != "":
		return "jenkins"
	}
	return ""
}

// Source is the commit of the job; outside of CI, and for what the environment does
// not say, that of the git repository of dir. It is empty without a repository.
func (e Environ) Source(ctx context.Context, dir string) Source {
	ctx, cancel := context.WithTimeout(ctx, gitLimit)
	defer cancel()
	s := e.job()
	if s.Ref == "" {
		s.Ref = git(ctx, dir, "symbolic-ref", "--quiet", "HEAD")
	}
	head := git(ctx, dir, "rev-parse", "--verify", "--quiet", "HEAD")
	if s.SHA == "" {
		s.SHA = head
	}
	if head != "" && s.SHA != "" && git(ctx, dir, "status", "--porcelain", "--untracked-files=no") != "" {
		s.SHA += "+dirty"
	}
	return s
}

// job is what the variables of the environment say. Pull requests have refs that
// SVC_PR_REFS of the server recognizes.
func (e Environ) job() Source {
	switch e.Provider() {
	case "github":
		return Source{e["GITHUB_REF"], e["GITHUB_SHA"]}
	case "gitlab":
		return Source{cmp.Or(e["CI_MERGE_REQUEST_REF_PATH"], prefixed("refs/tags/", e["CI_COMMIT_TAG"]), prefixed("refs/heads/", e["CI_COMMIT_REF_NAME"])), e["CI_COMMIT_SHA"]}
	case "bitbucket":
		return Source{
			cmp.Or(prefixed("refs/pull/", e["BITBUCKET_PR_ID"]), prefixed("refs/tags/", e["BITBUCKET_TAG"]), prefixed("refs/heads/", e["BITBUCKET_BRANCH"])),
			e["BITBUCKET_COMMIT"],
		}
	case "buildkite":
		return Source{e.buildkiteRef(), strings.TrimPrefix(e["BUILDKITE_COMMIT"], "HEAD")}
	case "jenkins":
		branch := strings.TrimPrefix(cmp.Or(e["BRANCH_NAME"], e["GIT_BRANCH"]), "origin/")
		return Source{cmp.Or(prefixed("refs/pull/", e["CHANGE_ID"]), prefixed("refs/tags/", e["TAG_NAME"]), prefixed("refs/heads/", branch)), e["GIT_COMMIT"]}
	}
	return Source{}
}

// Branch is the branch of the job, that of the pull request before that of the merge;
// outside of CI the branch of the git repository of dir. "" without one.
func (e Environ) Branch(ctx context.Context, dir string) string {
	var branch string
	switch e.Provider() {
	case "github":
		branch = cmp.Or(e["GITHUB_HEAD_REF"], strings.TrimPrefix(e["GITHUB_REF"], "refs/heads/"))
	case "gitlab":
		branch = cmp.Or(e["CI_MERGE_REQUEST_SOURCE_BRANCH_NAME"], e["CI_COMMIT_REF_NAME"])
	case "bitbucket":
		branch = e["BITBUCKET_BRANCH"]
	case "buildkite":
		branch = e["BUILDKITE_BRANCH"]
	case "jenkins":
		branch = strings.TrimPrefix(cmp.Or(e["CHANGE_BRANCH"], e["BRANCH_NAME"], e["GIT_BRANCH"]), "origin/")
	}
	if branch != "" {
		return branch
	}
	ctx, cancel := context.WithTimeout(ctx, gitLimit)
	defer cancel()
	return git(ctx, dir, "symbolic-ref", "--quiet", "--short", "HEAD")
}

// maxSlug leaves room for the project in a host name that has both in one label.
const maxSlug = 40

// Slug makes a preview name of a branch: lower case, each run of other characters a
// "-". A longer name is cut and ends with a checksum, so that two branches differ.
func Slug(branch string) string {
	slug := strings.Join(strings.FieldsFunc(strings.ToLower(branch), func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9')
	}), "-")
	if len(slug) <= maxSlug {
		return slug
	}
	sum := sha256.Sum256([]byte(branch))
	const digits = 6
	return strings.TrimRight(slug[:maxSlug-digits-1], "-") + "-" + hex.EncodeToString(sum[:])[:digits]
}

func (e Environ) buildkiteRef() string {
	if request := e["BUILDKITE_PULL_REQUEST"]; request != "" && request != "false" {
		return "refs/pull/" + request
	}
	return cmp.Or(prefixed("refs/tags/", e["BUILDKITE_TAG"]), prefixed("refs/heads/", e["BUILDKITE_BRANCH"]))
}

// git is the output of a git command; "" if it fails or git is not installed.
func git(ctx context.Context, dir string, args ...string) string {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir, "--no-optional-locks"}, args...)...)
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

func prefixed(prefix, name string) string {
	if name == "" {
		return ""
	}
	return prefix + name
}
