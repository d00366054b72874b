package ci_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/client/ci"
)

// TestSourceOfJobs: the variables that each environment sets.
func TestSourceOfJobs(t *testing.T) {
	t.Parallel()
	const sha = "0f2ac74b498b48028cb68387c421e2790f2ac74b"
	for name, tc := range map[string]struct {
		env, provider, ref string
	}{
		"github":               {"GITHUB_ACTIONS=true GITHUB_REF=refs/heads/main GITHUB_SHA=" + sha, "github", "refs/heads/main"},
		"github pull request":  {"GITHUB_ACTIONS=true GITHUB_REF=refs/pull/7/merge GITHUB_HEAD_REF=fix GITHUB_SHA=" + sha, "github", "refs/pull/7/merge"},
		"gitlab":               {"GITLAB_CI=true CI_COMMIT_REF_NAME=main CI_COMMIT_SHA=" + sha, "gitlab", "refs/heads/main"},
		"gitlab tag":           {"GITLAB_CI=true CI_COMMIT_REF_NAME=v1 CI_COMMIT_TAG=v1 CI_COMMIT_SHA=" + sha, "gitlab", "refs/tags/v1"},
		"gitlab merge request": {"GITLAB_CI=true CI_COMMIT_REF_NAME=fix CI_MERGE_REQUEST_REF_PATH=refs/merge-requests/1/head CI_COMMIT_SHA=" + sha, "gitlab", "refs/merge-requests/1/head"},
		"bitbucket":            {"BITBUCKET_BUILD_NUMBER=3 BITBUCKET_BRANCH=main BITBUCKET_COMMIT=" + sha, "bitbucket", "refs/heads/main"},
		"bitbucket request":    {"BITBUCKET_BUILD_NUMBER=3 BITBUCKET_BRANCH=fix BITBUCKET_PR_ID=7 BITBUCKET_COMMIT=" + sha, "bitbucket", "refs/pull/7"},
		"buildkite":            {"BUILDKITE=true BUILDKITE_PULL_REQUEST=false BUILDKITE_BRANCH=main BUILDKITE_COMMIT=" + sha, "buildkite", "refs/heads/main"},
		"buildkite request":    {"BUILDKITE=true BUILDKITE_PULL_REQUEST=7 BUILDKITE_BRANCH=fix BUILDKITE_COMMIT=" + sha, "buildkite", "refs/pull/7"},
		"jenkins":              {"JENKINS_URL=http://j GIT_BRANCH=origin/main GIT_COMMIT=" + sha, "jenkins", "refs/heads/main"},
		"jenkins multibranch":  {"JENKINS_URL=http://j BRANCH_NAME=PR-7 CHANGE_ID=7 GIT_COMMIT=" + sha, "jenkins", "refs/pull/7"},
		"jenkins tag":          {"JENKINS_URL=http://j BRANCH_NAME=v1 TAG_NAME=v1 GIT_COMMIT=" + sha, "jenkins", "refs/tags/v1"},
	} {
		env := ci.NewEnviron(strings.Fields(tc.env))
		got := env.Source(t.Context(), t.TempDir())
		if want := (ci.Source{Ref: tc.ref, SHA: sha}); got != want || env.Provider() != tc.provider {
			t.Errorf("%s: %s, %+v", name, env.Provider(), got)
		}
	}
}

// TestBranch: the branch of a pull request is its source, and a name for it.
func TestBranch(t *testing.T) {
	t.Parallel()
	for env, want := range map[string]string{
		"GITHUB_ACTIONS=true GITHUB_REF=refs/heads/main":                                                  "main",
		"GITHUB_ACTIONS=true GITHUB_REF=refs/pull/7/merge GITHUB_HEAD_REF=fix":                            "fix",
		"GITHUB_ACTIONS=true GITHUB_REF=refs/tags/v1.0":                                                   "refs/tags/v1.0",
		"GITLAB_CI=true CI_COMMIT_REF_NAME=v1 CI_COMMIT_TAG=v1":                                           "refs/tags/v1",
		"BITBUCKET_BUILD_NUMBER=3 BITBUCKET_TAG=v1":                                                       "refs/tags/v1",
		"BUILDKITE=true BUILDKITE_BRANCH=v1 BUILDKITE_TAG=v1":                                             "refs/tags/v1",
		"JENKINS_URL=http://j BRANCH_NAME=v1 TAG_NAME=v1":                                                 "refs/tags/v1",
		"GITLAB_CI=true CI_COMMIT_REF_NAME=main":                                                          "main",
		"GITLAB_CI=true CI_COMMIT_REF_NAME=refs/merge-requests/1 CI_MERGE_REQUEST_SOURCE_BRANCH_NAME=fix": "fix",
		"BITBUCKET_BUILD_NUMBER=3 BITBUCKET_BRANCH=fix":                                                   "fix",
		"BUILDKITE=true BUILDKITE_BRANCH=fix":                                                             "fix",
		"JENKINS_URL=http://j GIT_BRANCH=origin/main":                                                     "main",
		"JENKINS_URL=http://j BRANCH_NAME=PR-7 CHANGE_BRANCH=fix":                                         "fix",
		"HOME=/": "",
	} {
		if got := ci.NewEnviron(strings.Fields(env)).Branch(t.Context(), t.TempDir()); got != want {
			t.Errorf("%s: %q", env, got)
		}
	}
}

// TestSlug: the name of a branch as a DNS label; another branch never has the same one.
func TestSlug(t *testing.T) {
	t.Parallel()
	long := "feature/" + strings.Repeat("x", 60)
	for branch, want := range map[string]string{
		"": "", "main": "main", "fix-2": "fix-2", strings.Repeat("x", 40): strings.Repeat("x", 40),
		"feature/cart": "feature-cart-c39f4d", "Feature/Cart": "feature-cart-f38867", "feature_cart": "feature-cart-35acd2", "feature-cart": "feature-cart",
		"Feature/Cart_2": "feature-cart-2-3df8da", "a--b": "a-b-90827a", "--ü--": "branch-ff56f9",
		"日本語": "branch-77710a", "é": "branch-4a9955", "feature/用户登录": "feature-67f16d", "feature/购物车": "feature-0d4400",
		"funktion/über-größe": "funktion-ber-gr-e-c5fbba",
		"refs/tags/v1.0":      "v1-0-9c00a1", "v1-0": "v1-0",
		long: "feature-xxxxxxxxxxxxxxxxxxxxxxxxx-5041bb",
	} {
		if got := ci.Slug(branch); got != want || len(got) > 40 {
			t.Errorf("%s: %q, want %q", branch, got, want)
		}
	}
	// A branch may have the name that another one gets.
	for _, branch := range []string{"feature-cart-c39f4d", "v1-0-9c00a1", long + "x", "refs/tags/main"} {
		for _, other := range []string{"feature/cart", "refs/tags/v1.0", long, "main"} {
			if ci.Slug(branch) == ci.Slug(other) {
				t.Errorf("%s and %s have one name", branch, other)
			}
		}
	}
}

func TestSourceOfGit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	none := ci.Environ{}
	if got := none.Source(t.Context(), dir); got != (ci.Source{}) {
		t.Errorf("without a repository: %+v", got)
	}
	git("init", "--quiet", "--initial-branch=trunk")
	if got := none.Source(t.Context(), dir); got != (ci.Source{Ref: "refs/heads/trunk"}) {
		t.Errorf("without a commit: %+v", got)
	}
	file := filepath.Join(dir, "w.js")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(file, "1")
	git("add", ".")
	git("commit", "--quiet", "-m", "one")
	want := ci.Source{Ref: "refs/heads/trunk", SHA: git("rev-parse", "HEAD")}
	write(filepath.Join(dir, "untracked"), "1")
	if got := none.Source(t.Context(), dir); got != want {
		t.Errorf("clean: %+v", got)
	}
	write(file, "2")
	if got := none.Source(t.Context(), dir); got != (ci.Source{Ref: want.Ref, SHA: want.SHA + "+dirty"}) {
		t.Errorf("changed: %+v", got)
	}
	git("checkout", "--quiet", "--detach", "--force")
	if got := none.Source(t.Context(), dir); got != (ci.Source{SHA: want.SHA}) {
		t.Errorf("detached: %+v", got)
	}
}

func report() ci.Report {
	return ci.Report{
		Project: "shop", Version: "v1", Status: "ready", PreviewURL: "http://v1.shop.test", Digest: "sha256:abc", Parent: "staging", Cut: "12",
		Source: ci.Source{SHA: "0f2a"}, Migrations: "applied 1 migration | DB", Took: 1500 * time.Millisecond,
	}
}

func TestOutputs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := ci.Environ{"GITHUB_OUTPUT": filepath.Join(dir, "out"), "GITHUB_STEP_SUMMARY": filepath.Join(dir, "summary")}
	if err := os.WriteFile(env["GITHUB_OUTPUT"], []byte("before=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := env.Outputs(report()); err != nil {
		t.Fatal(err)
	}
	want := "before=1\nproject-id=shop\nversion-id=v1\nstatus=ready\npreview-url=http://v1.shop.test\nprod-url=\npreview-name=\npreview-name-url=\nartifact-digest=sha256:abc\nduration-ms=1500\n"
	if got, err := os.ReadFile(env["GITHUB_OUTPUT"]); err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, cmp.Diff(want, string(got)))
	}
	want = "### Deployed `shop/v1`\n\n| | |\n|---|---|\n| Preview | http://v1.shop.test |\n| Status | ready |\n| Commit | `0f2a` |\n" +
		"| Parent | `staging at 12` |\n| Data | applied 1 migration \\| DB |\n| Duration | 1.5s |\n| Logs | `svcctl logs shop/v1` |\n\n"
	if got, err := os.ReadFile(env["GITHUB_STEP_SUMMARY"]); err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, cmp.Diff(want, string(got)))
	}
	if err := (ci.Environ{}).Outputs(report()); err != nil {
		t.Error(err)
	}
	if got := report().Dotenv(); !strings.Contains(got, "SVCCTL_PREVIEW_URL=http://v1.shop.test\n") || strings.Count(got, "\n") != 9 {
		t.Errorf("dotenv: %s", got)
	}
}

// TestDataReport: what a version changed of its data, bounded, with a fence that no statement ends.
func TestDataReport(t *testing.T) {
	t.Parallel()
	r := report()
	r.Changed, r.Schema = "D1 main: rows of a|b +1 ~0 -0", "# D1 main: table t\n+ CREATE TABLE t(\"```\")"
	got := r.Markdown()
	for _, want := range []string{"| Data changed | `D1 main: rows of a\\|b +1 ~0 -0` |\n", "\n\n<details><summary>Schema</summary>\n\n````diff\n# D1 main: table t\n+ CREATE TABLE t(\"```\")\n````\n\n</details>\n\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	r.Schema = strings.Repeat("+ é\n", 50_000)
	if got := r.Markdown(); len(got) > 65536 || !strings.HasSuffix(got, "\n```\n\n</details>\n\n") {
		t.Errorf("%d bytes", len(got))
	}
}

// TestFailureReport: a deploy that created nothing says why, with the lines of the source.
func TestFailureReport(t *testing.T) {
	t.Parallel()
	r := ci.Report{Project: "shop", Status: "failed", Source: ci.Source{SHA: "0f2a"}, Took: time.Second, Failure: "the worker does not build\nsrc/index.ts:2:28: Expected \")\"\n    2 | const a = ```x```"}
	want := "### Deploy failed: `shop`\n\n````text\nthe worker does not build\nsrc/index.ts:2:28: Expected \")\"\n    2 | const a = ```x```\n````\n\n" +
		"| | |\n|---|---|\n| Status | failed |\n| Commit | `0f2a` |\n| Duration | 1s |\n\n"
	if got := r.Markdown(); got != want {
		t.Error(cmp.Diff(want, got))
	}
	r = ci.Report{Failure: strings.Repeat("é", 70_000)}
	if got := r.Markdown(); !strings.HasPrefix(got, "### Deploy failed\n") || len(got) > 65536 || strings.ToValidUTF8(got, "") != got {
		t.Errorf("%d bytes: %.60s", len(got), got)
	}
	r = report()
	r.Failure = "the upload was refused"
	if got := r.Markdown(); !strings.HasPrefix(got, "### Deploy failed: `shop/v1`\n\n```text\nthe upload was refused\n```\n") {
		t.Error(got)
	}
}

// TestPreviewReport: the address of a preview name stands before that of the version.
func TestPreviewReport(t *testing.T) {
	t.Parallel()
	r := report()
	r.Name, r.NameURL = "fix", "http://fix.shop.test"
	if got := r.Markdown(); !strings.Contains(got, "| Preview | http://fix.shop.test |\n| This version | http://v1.shop.test |\n") {
		t.Error(got)
	}
	if got := r.Dotenv(); !strings.Contains(got, "SVCCTL_PREVIEW_NAME_URL=http://fix.shop.test\n") {
		t.Error(got)
	}
}

// TestProductionReport: a release and a promote say what became of the data of production.
func TestProductionReport(t *testing.T) {
	t.Parallel()
	r := report()
	r.Left, r.Rescue = "v1 has what v2 lacks: KV keys: 25 new", "svcctl data export shop/v1 --since-cut"
	want := "| Left behind | v1 has what v2 lacks: KV keys: 25 new |\n| To export it | `svcctl data export shop/v1 --since-cut` |\n"
	if got := r.Markdown(); !strings.Contains(got, want) || !strings.HasPrefix(got, "### Deployed `shop/v1`") {
		t.Error(got)
	}
	r = report()
	r.Release = "was v0, held 84ms, 0 writes lost"
	if got := r.Markdown(); !strings.Contains(got, "| Release | was v0, held 84ms, 0 writes lost |\n") || !strings.HasPrefix(got, "### Released `shop/v1`") {
		t.Error(got)
	}
}

func TestCommands(t *testing.T) {
	t.Parallel()
	github := ci.Environ{"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": "/repo"}
	text := "the worker does not build\nsrc/index.ts:2:28: Expected \")\", 100%\n    2 | x\n"
	want := []string{"::error file=app/src/index.ts,line=2,col=28,title=svcctl deploy::Expected \")\", 100%25"}
	if diff := cmp.Diff(want, github.Annotations("svcctl deploy", text, "/repo/app")); diff != "" {
		t.Error(diff)
	}
	want = []string{"::error file=app/src/index.ts,line=4,col=9,title=svcctl deploy::version v2 of shop is failed: Error: no"}
	if diff := cmp.Diff(want, github.Annotations("svcctl deploy", "version v2 of shop is failed: Error: no at src/index.ts:4:9\n\nsrc/index.ts:4:9\n>    4 | x", "/repo/app")); diff != "" {
		t.Error(diff)
	}
	want = []string{"::error title=svcctl deploy::the queue is full%0Atry again"}
	if diff := cmp.Diff(want, github.Annotations("svcctl deploy", "the queue is full\ntry again", "/repo/app")); diff != "" {
		t.Error(diff)
	}
	want = []string{"::add-mask::hunter2", "::add-mask::first line", "::add-mask::second"}
	if diff := cmp.Diff(want, github.Masks([]string{"hunter2", "abc", "first line\nsecond\n"})); diff != "" {
		t.Error(diff)
	}
	if begin, end := github.Group("svcctl deploy", time.Unix(1, 0)); begin != "::group::svcctl deploy" || end != "::endgroup::" {
		t.Errorf("group %q, %q", begin, end)
	}
	gitlab := ci.Environ{"GITLAB_CI": "true"}
	if begin, end := gitlab.Group("deploy", time.Unix(1, 0)); begin != "\x1b[0Ksection_start:1:svcctl_deploy\r\x1b[0Kdeploy" || end != "\x1b[0Ksection_end:1:svcctl_deploy\r\x1b[0K" {
		t.Errorf("section %q, %q", begin, end)
	}
	for _, env := range []ci.Environ{gitlab, {}} {
		if len(env.Masks([]string{"hunter2"})) != 0 || len(env.Annotations("t", text, "/")) != 0 {
			t.Errorf("%v has commands of GitHub", env)
		}
	}
}
