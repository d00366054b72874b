package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/config"
)

// TestContexts: which server and tokens are in effect, and where they come from.
func TestContexts(t *testing.T) {
	t.Parallel()
	home := "HOME=" + t.TempDir()
	stored := config.Contexts{Current: "prod", Contexts: map[string]config.Context{
		"prod":    {Server: "https://prod.example", AdminToken: "prod-admin", DeployToken: "prod-deploy", CAFile: "/ca.pem"},
		"staging": {Server: "https://staging.example", DeployToken: "staging-deploy"},
	}}
	if err := config.WriteContexts([]string{home}, stored); err != nil {
		t.Fatal(err)
	}
	if read, err := config.ReadContexts([]string{home}); err != nil || !cmp.Equal(read, stored) {
		t.Errorf("%v\n%s", err, cmp.Diff(stored, read))
	}
	for name, tc := range map[string]struct {
		environ               []string
		flags                 config.ClientFlags
		context, server       string
		admin, deploy, source string
	}{
		"current":       {nil, config.ClientFlags{}, "prod", "https://prod.example", "prod-admin", "prod-deploy", "context prod"},
		"flag":          {nil, config.ClientFlags{Context: "staging"}, "staging", "https://staging.example", "", "staging-deploy", "context staging"},
		"variable":      {[]string{"SVCCTL_CONTEXT=staging"}, config.ClientFlags{}, "staging", "https://staging.example", "", "staging-deploy", "context staging"},
		"flag wins":     {[]string{"SVCCTL_CONTEXT=staging", "SVCCTL_SERVER=http://x"}, config.ClientFlags{Context: "prod"}, "prod", "https://prod.example", "prod-admin", "prod-deploy", "context prod"},
		"token wins":    {[]string{"SVCCTL_DEPLOY_TOKEN=own"}, config.ClientFlags{}, "prod", "https://prod.example", "prod-admin", "own", "context prod"},
		"its server":    {nil, config.ClientFlags{Server: "https://staging.example"}, "staging", "https://staging.example", "", "staging-deploy", "--server"},
		"other server":  {nil, config.ClientFlags{Server: "https://elsewhere.example"}, "", "https://elsewhere.example", "", "", "--server"},
		"server by env": {[]string{"SVCCTL_SERVER=https://elsewhere.example"}, config.ClientFlags{}, "", "https://elsewhere.example", "", "", "SVCCTL_SERVER"},
	} {
		c, err := config.LoadClient(append(tc.environ, home), tc.flags)
		if err != nil {
			t.Fatal(name, err)
		}
		if c.Context != tc.context || c.Server != tc.server || c.AdminToken.Reveal() != tc.admin || c.DeployToken.Reveal() != tc.deploy || c.Sources["server"] != tc.source {
			t.Errorf("%s: context %q, %s from %q", name, c.Context, c.Server, c.Sources["server"])
		}
	}
	if _, err := config.LoadClient([]string{home}, config.ClientFlags{Context: "nope"}); err == nil || !strings.Contains(err.Error(), "svcctl login") {
		t.Errorf("got %v", err)
	}
	if _, err := config.LoadClient([]string{home}, config.ClientFlags{Context: "prod", Server: "http://x"}); err == nil {
		t.Error("--server and --context together are accepted")
	}
}

// TestContextsArePrivate: the file is for its owner only, and an error holds no token.
func TestContextsArePrivate(t *testing.T) {
	t.Parallel()
	environ := []string{"HOME=" + t.TempDir()}
	if err := config.WriteContexts(environ, config.Contexts{Contexts: map[string]config.Context{"a": {AdminToken: "hunter2"}}}); err != nil {
		t.Fatal(err)
	}
	path := config.ContextsPath(environ)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := config.ReadContexts(environ); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("others can read it: %v", err)
	}
	if err := os.WriteFile(path, []byte("current: [hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := config.ReadContexts(environ); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("malformed: %v", err)
	}
}

// TestContextsBehindLink: a link to the file stays, as programs make it that keep such files elsewhere.
func TestContextsBehindLink(t *testing.T) {
	t.Parallel()
	home, kept := t.TempDir(), filepath.Join(t.TempDir(), "config.yaml")
	path := config.ContextsPath([]string{"HOME=" + home})
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Symlink(kept, path)); err != nil {
		t.Fatal(err)
	}
	if err := config.WriteContexts([]string{"HOME=" + home}, config.Contexts{Current: "prod"}); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(kept); err != nil || !strings.Contains(string(text), "prod") {
		t.Errorf("the file behind the link: %q, %v", text, err)
	}
}
