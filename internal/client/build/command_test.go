package build_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/svcctl/svcctl/internal/client/build"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestBuildCommandSeesBins(t *testing.T) {
	t.Parallel()
	// The nearest directory's programs win over those above it, and the PATH is last.
	dir := svctest.Files(t, files{
		"node_modules/.bin/outer":           "#!/bin/sh\necho outer",
		"node_modules/.bin/both":            "#!/bin/sh\necho wrong",
		"packages/w/node_modules/.bin/both": "#!/bin/sh\necho both",
		"packages/w/build/x":                "",
		"packages/w/w.js":                   "export default {}",
		"packages/w/wrangler.toml":          "name = \"w\"\nmain = \"w.js\"\ncompatibility_date = \"2026-11-01\"\n[build]\ncommand = \"outer && both && echo $VALUE && pwd\"\ncwd = \"build\"\n",
	})
	var out strings.Builder
	r, err := build.Bundle(t.Context(), build.Request{
		Dir: filepath.Join(dir, "packages/w"), TempDir: t.TempDir(), Output: &out, Environ: []string{"VALUE=given", "PATH=/usr/bin:/bin"},
	})
	if err != nil {
		t.Fatal(err, out.String())
	}
	real, err := filepath.EvalSymlinks(filepath.Join(dir, "packages/w/build"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "outer\nboth\ngiven\n" + real + "\n"; out.String() != want {
		t.Errorf("output %q, want %q", out.String(), want)
	}
	r.Remove()
}

func TestCancelEndsTheWholeBuild(t *testing.T) {
	t.Parallel()
	dir := svctest.Files(t, files{
		"w.js":          "export default {}",
		"wrangler.json": `{"name": "w", "main": "w.js", "compatibility_date": "2026-11-01", "build": {"command": "sleep 600 & echo $!; wait"}}`,
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, in := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := build.Bundle(ctx, build.Request{Dir: dir, TempDir: t.TempDir(), Output: in})
		done <- err
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	// A killed process may still be waited for by init; then it is a zombie.
	svctest.Eventually(t, "the process of the build command to end", func() bool {
		return syscall.Kill(pid, 0) != nil || zombie(t, pid)
	})
}

// TestBuildCommandSeesNoTokens: what deploys, and what acts for the job of a pipeline, is not for the packages
// of a project.
func TestBuildCommandSeesNoTokens(t *testing.T) {
	t.Parallel()
	dir := svctest.Files(t, files{
		"w.js":          "export default {}",
		"wrangler.json": `{"name": "w", "main": "w.js", "compatibility_date": "2026-11-01", "build": {"command": "env | grep -c secret; echo $NODE_AUTH_TOKEN $SVCCTL_SERVER $CI $ACTIONS"}}`,
	})
	environ := []string{"PATH=/usr/bin:/bin", "NODE_AUTH_TOKEN=npm", "SVCCTL_SERVER=http://s", "CI=true", "ACTIONS=a"}
	for _, name := range []string{
		"SVCCTL_ADMIN_TOKEN", "SVCCTL_DEPLOY_TOKEN", "SVC_ADMIN_TOKEN", "SVC_DEPLOY_TOKEN", "SVC_RECOVERY_KEY", "SVC_TLS_DNS_SECRET", "S3_SECRET_ACCESS_KEY", "INPUT_ADMIN-TOKEN",
		"GITHUB_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN", "ACTIONS_RUNTIME_TOKEN", "GITLAB_TOKEN", "CI_JOB_TOKEN", "CI_JOB_JWT_V2", "CI_REGISTRY_PASSWORD",
		"BITBUCKET_STEP_OIDC_TOKEN", "BUILDKITE_AGENT_ACCESS_TOKEN",
	} {
		environ = append(environ, name+"=secret")
	}
	var out strings.Builder
	r, err := build.Bundle(t.Context(), build.Request{Dir: dir, TempDir: t.TempDir(), Output: &out, Environ: environ})
	if err != nil {
		t.Fatal(err, out.String())
	}
	r.Remove()
	if want := "0\nnpm http://s true a\n"; out.String() != want {
		t.Errorf("output %q, want %q", out.String(), want)
	}
}
