package ci

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os/exec"
	"regexp"
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
		return Source{cmp.Or(e["CI_MERGE_REQUEST_REF_PATH"], prefixed(tagPrefix, e["CI_COMMIT_TAG"]), prefixed("refs/heads/", e["CI_COMMIT_REF_NAME"])), e["CI_COMMIT_SHA"]}
	case "bitbucket":
		return Source{
			cmp.Or(prefixed("refs/pull/", e["BITBUCKET_PR_ID"]), prefixed(tagPrefix, e["BITBUCKET_TAG"]), prefixed("refs/heads/", e["BITBUCKET_BRANCH"])),
			e["BITBUCKET_COMMIT"],
		}
	case "buildkite":
		return Source{e.buildkiteRef(), strings.TrimPrefix(e["BUILDKITE_COMMIT"], "HEAD")}
	case "jenkins":
		branch := strings.TrimPrefix(cmp.Or(e["BRANCH_NAME"], e["GIT_BRANCH"]), "origin/")
		return Source{cmp.Or(prefixed("refs/pull/", e["CHANGE_ID"]), prefixed(tagPrefix, e["TAG_NAME"]), prefixed("refs/heads/", branch)), e["GIT_COMMIT"]}
	}
	return Source{}
}

// Branch is the branch of the job, that of the pull request before that of the merge, or the tag of the job
// as "refs/tags/NAME"; outside of CI the branch of the git repository of dir. "" without one.
func (e Environ) Branch(ctx context.Context, dir string) string {
	var branch, tag string
	switch e.Provider() {
	case "github":
		branch = cmp.Or(e["GITHUB_HEAD_REF"], strings.TrimPrefix(e["GITHUB_REF"], "refs/heads/"))
	case "gitlab":
		branch, tag = cmp.Or(e["CI_MERGE_REQUEST_SOURCE_BRANCH_NAME"], e["CI_COMMIT_REF_NAME"]), e["CI_COMMIT_TAG"]
	case "bitbucket":
		branch, tag = e["BITBUCKET_BRANCH"], e["BITBUCKET_TAG"]
	case "buildkite":
		branch, tag = e["BUILDKITE_BRANCH"], e["BUILDKITE_TAG"]
	case "jenkins":
		branch = strings.TrimPrefix(cmp.Or(e["CHANGE_BRANCH"], e["BRANCH_NAME"], e["GIT_BRANCH"]), "origin/")
		tag = e["TAG_NAME"]
	}
	if branch = cmp.Or(prefixed(tagPrefix, tag), branch); branch != "" {
		return branch
	}
	ctx, cancel := context.WithTimeout(ctx, gitLimit)
	defer cancel()
	return git(ctx, dir, "symbolic-ref", "--quiet", "--short", "HEAD")
}

const (
	tagPrefix = "refs/tags/"
	// maxSlug leaves room for the project in a host name that has both in one label.
	maxSlug = 40
	// sumDigits is the length of the checksum in a slug.
	sumDigits = 6
)

// summed matches what a slug with a checksum looks like.
var summed = regexp.MustCompile(`-[0-9a-f]{6}$`)

// Slug makes a preview name of a branch, or of a tag with its prefix: lower case, each run of other
// characters a "-". A name that is not exactly that of the branch ends with a checksum of the branch, so that two
// branches never share a preview and its data. "" for "".
func Slug(branch string) string {
	slug := strings.Join(strings.FieldsFunc(strings.ToLower(strings.TrimPrefix(branch, tagPrefix)), func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9')
	}), "-")
	if slug == branch && len(slug) <= maxSlug && !summed.MatchString(slug) {
		return slug
	}
	sum := sha256.Sum256([]byte(branch))
	head := strings.TrimRight(slug[:min(len(slug), maxSlug-sumDigits-1)], "-")
	return cmp.Or(head, "branch") + "-" + hex.EncodeToString(sum[:])[:sumDigits]
}

func (e Environ) buildkiteRef() string {
	if request := e["BUILDKITE_PULL_REQUEST"]; request != "" && request != "false" {
		return "refs/pull/" + request
	}
	return cmp.Or(prefixed(tagPrefix, e["BUILDKITE_TAG"]), prefixed("refs/heads/", e["BUILDKITE_BRANCH"]))
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
