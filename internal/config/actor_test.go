package config_test

import (
	"testing"

	"github.com/svcctl/svcctl/internal/config"
)

// TestActor: the audit record names a person and, in a pipeline, the run. Without any variable it is
// the user of the machine.
func TestActor(t *testing.T) {
	t.Parallel()
	for want, env := range map[string][]string{
		"ana":                          {"SVCCTL_ACTOR=ana", "GITHUB_ACTOR=bob", "USER=cy"},
		"bob, acme/shop run 4711":      {"GITHUB_ACTOR=bob", "GITHUB_REPOSITORY=acme/shop", "GITHUB_RUN_ID=4711", "USER=runner"},
		"bob":                          {"GITHUB_ACTOR=bob"},
		"dee, acme/group/shop run 815": {"GITLAB_USER_LOGIN=dee", "CI_PROJECT_PATH=acme/group/shop", "CI_PIPELINE_ID=815"},
		"cy":                           {"USER=cy", "LOGNAME=other"},
		"eve":                          {"LOGNAME=eve"},
	} {
		c, err := config.LoadClient(env, config.ClientFlags{Server: "http://127.0.0.1:1"})
		if err != nil {
			t.Fatal(err)
		}
		if c.Actor != want {
			t.Errorf("%v: got %q, want %q", env, c.Actor, want)
		}
	}
	c, err := config.LoadClient(nil, config.ClientFlags{Server: "http://127.0.0.1:1"})
	if err != nil || c.Actor == "" {
		t.Errorf("without variables: %q, %v", c.Actor, err)
	}
}
