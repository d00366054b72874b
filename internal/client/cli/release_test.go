package cli

import (
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
)

// TestRelease: the result names the hold, what moved, and the two ways back.
func TestRelease(t *testing.T) {
	t.Parallel()
	f := newFake(t, "v7", "v7", "v8-check")
	args := "release v8-check --version v8 --check /health --max-hold 5m --late-requests refuse --interrupt-events --leave-instances --git-ref refs/heads/main --watch 5m --abort-on errors>1% -m why"
	code, out, errs := runs{}.fake(t, f, strings.Fields(args)...)
	if code != kit.ExitOK {
		t.Fatalf("exit %d: %s", code, errs)
	}
	holds(t, "stdout", out, "shop/v8 is production (was v7)   held 84ms   0 writes lost   2 workflow instances moved\nproduction: http://shop.test\n")
	holds(t, "stderr", errs, "back, data kept:  svcctl rollback --keep-data      back with the data of before v8:  svcctl rollback --restore-data\n")
	want := `{"check":"/health","git_ref":"refs/heads/main","interrupt_events":true,"late_requests":"refuse","leave_instances":true,"max_hold_ms":300000,"reason":"why","version_id":"v8","watch":{"abort_on":"errors\u003e1%","seconds":300}}`
	if got := string(must(t, f.releases[0])); got != want {
		t.Errorf("sent %s", got)
	}
	_, out, _ = runs{}.fake(t, f, "release", "v8-check", "--version", "v9", "-o", "json")
	holds(t, "stdout", out, `"kind": "release"`, `"held_ms": 84.2`, `"version_id": "v9"`, `"candidate_version_id": "v8-check"`, `"instances": 2`, `"step": "seal"`)
}

// TestReleaseFlags: a wrong flag asks no server.
func TestReleaseFlags(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--max-hold 2h": "--max-hold must be a duration of at most 30m0s", "--max-hold x": "--max-hold must be", "--late-requests drop": "--late-requests must be wait or refuse",
		"--watch 5m": "--watch and --abort-on need each other: --watch 5m --abort-on 'errors>1%'", "--abort-on errors>1%": "need each other", "--check health": "--check: want a path",
	} {
		f := newFake(t, "v7", "v8")
		code, _, errs := runs{}.fake(t, f, append([]string{"release", "v8"}, strings.Fields(args)...)...)
		if code != kit.ExitUsage || !strings.Contains(errs, want) || len(f.releases) > 0 {
			t.Errorf("%s: exit %d: %s", args, code, errs)
		}
	}
}

// TestReleasePlan: the plan says what the hold costs, what moves and what stays.
func TestReleasePlan(t *testing.T) {
	t.Parallel()
	f := newFake(t, "v7", "v7", "v8-check")
	f.migrations, f.blocked = []string{"DB/0004_total.sql"}, "release_too_slow: the expected hold is 5s"
	code, out, errs := runs{}.fake(t, f, "release", "v8-check", "--plan")
	if code != kit.ExitOK || len(f.releases) > 0 {
		t.Errorf("exit %d: %s", code, errs)
	}
	holds(t, "stdout", out, "a release would put the code of v8-check on the data of v7, production of shop\n", "  blocked     release_too_slow: the expected hold is 5s\n",
		"  hold        0.1s expected, 4.0s at most\n", "  migrations  DB/0004_total.sql\n", "  moves       4 messages and 2 instances of workflows of v7\n",
		"  lost        0 writes of v7\n", "v8-check wrote itself, and keeps for itself:\n", "KV keys")
}

// TestReleaseUndone: a script learns whether a repeat helps.
func TestReleaseUndone(t *testing.T) {
	t.Parallel()
	for fails, code := range map[string]int{
		"drain: release_busy: 2 requests still run":              kit.ExitBusy,
		"check: release_check_failed: GET /health answered 500":  kit.ExitFailure,
		"prepare: migration_failed: DB/0004_total.sql: no table": kit.ExitFailure,
	} {
		f := newFake(t, "v7", "v7", "v8-check")
		f.fails = fails
		got, _, errs := runs{}.fake(t, f, "release", "v8-check", "-o", "json")
		if got != code || f.production != "v7" {
			t.Errorf("%s: exit %d: %s", fails, got, errs)
		}
		holds(t, "stderr", errs, "the release of v8-check of shop failed and production is still v7: "+fails, `"code":"`+strings.Split(fails, ": ")[1]+`"`)
	}
}
