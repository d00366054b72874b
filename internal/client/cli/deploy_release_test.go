package cli

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// TestDeployRelease: the candidate branches production without events, and is released under the id
// that the command line names.
func TestDeployRelease(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--release", "--promote", "--promote --release", "--release --parent production"} {
		f := newFake(t, "v7", "v7")
		f.migrations = []string{"DB/0004_total.sql"}
		code, out, errs := runs{}.fake(t, f, append(strings.Fields("deploy --version v8 --var A:b"), strings.Fields(flag)...)...)
		if code != kit.ExitOK || len(f.created) != 1 || len(f.releases) != 1 || len(f.promotes) != 0 {
			t.Fatalf("%s: exit %d, %d creates, %d releases: %s", flag, code, len(f.created), len(f.releases), errs)
		}
		if c := f.created[0]; c.ID != "v8-check" || c.Events != api.CreateVersionEventsOff || valueOf(c.ParentVersionID) != "@production" || c.Env["A"] != "b" {
			t.Errorf("%s: created %+v", flag, c)
		}
		if r := f.releases[0]; r.VersionID != "v8" || valueOf(r.ExpectedProdVersionID) != "v7" || r.Reason != "deploy --release" {
			t.Errorf("%s: released %+v", flag, r)
		}
		holds(t, "stdout", out, "shop/v8 is production (was v7)   held 84ms   0 writes lost   2 workflow instances moved\nproduction: http://shop.test\n")
		holds(t, "stderr", errs, "shop/v8-check is ready   migrations DB/0004_total.sql   expected hold 0.1s\n", "back, data kept:  svcctl rollback --keep-data")
		if strings.Contains(errs, "next: svcctl promote") {
			t.Errorf("%s: %s", flag, errs)
		}
	}
}

// TestDeployReleaseGenerated: without --version the server names the released version.
func TestDeployReleaseGenerated(t *testing.T) {
	t.Parallel()
	f := newFake(t, "v7", "v7")
	code, out, errs := runs{}.fake(t, f, "deploy", "--release", "-o", "json")
	if code != kit.ExitOK || !strings.HasPrefix(f.created[0].ID, "v-20") || !strings.HasSuffix(f.created[0].ID, "-check") || f.releases[0].VersionID != "" {
		t.Errorf("exit %d, created %v, released %+v: %s", code, f.created, f.releases, errs)
	}
	holds(t, "stdout", out, `"id": "v-generated"`, `"release": {`, `"held_ms": 84.2`, `"is_production": true`)
}

// TestDeployReleaseFirst: a project without production gets its first one, by either flag.
func TestDeployReleaseFirst(t *testing.T) {
	t.Parallel()
	for flag, says := range map[string]string{"--release": "shop has no production yet: its first deploy becomes production\n", "--promote": ""} {
		f := newFake(t, "")
		code, out, errs := runs{}.fake(t, f, "deploy", "--version", "v1", flag)
		if code != kit.ExitOK || len(f.releases) != 0 || f.created[0].ID != "v1" || f.created[0].ParentVersionID != nil || f.created[0].Events != "" {
			t.Errorf("%s: exit %d, %+v: %s", flag, code, f.created, errs)
		}
		holds(t, "output", out+errs, says, "shop/v1 is ready at", "production: http://shop.test\n")
	}
}

// TestDeployReleaseContinues: the same command again, as a retry in CI, continues where it ended.
func TestDeployReleaseContinues(t *testing.T) {
	t.Parallel()
	f := newFake(t, "v7", "v7")
	deploy := func(wantCode int, args ...string) string {
		t.Helper()
		code, out, errs := runs{}.fake(t, f, append([]string{"deploy", "--version", "v8", "--release"}, args...)...)
		if code != wantCode {
			t.Fatalf("exit %d, want %d: %s", code, wantCode, errs)
		}
		return out + errs
	}
	f.fails = "drain: release_busy: 1 request still runs"
	holds(t, "failure", deploy(kit.ExitBusy), "production is still v7", "the candidate stays ready; to release it: svcctl release shop/v8-check\n")
	f.fails = ""
	holds(t, "retry", deploy(kit.ExitOK), "shop/v8 exists and is failed, and an id is never used twice: releasing as v8-2\n", "shop/v8-2 is production (was v7)")
	if len(f.versions) != 4 { // v7, v8-check, v8, v8-2
		t.Errorf("versions %v", f.versions)
	}
	f.releases, f.created = nil, nil
	holds(t, "third", deploy(kit.ExitOK), "shop/v8-2 is production already, with the same code\nproduction: http://shop.test\n")
	if len(f.releases)+len(f.created) != 0 {
		t.Errorf("created %v, released %v", f.created, f.releases)
	}
	holds(t, "other code", deploy(kit.ExitConflict, "--minify", "--compatibility-flag", "nodejs_compat"), `version "v8-2" exists with another artifact_digest`)
	f.production = "v7"
	holds(t, "left", deploy(kit.ExitConflict), `version "v8-2" exists and is not production`)
}

// TestDeployReleaseRuns: a retry waits for the release that the first attempt began.
func TestDeployReleaseRuns(t *testing.T) {
	t.Parallel()
	f := newFake(t, "v7", "v7")
	if code, _, errs := (runs{}).fake(t, f, "deploy", "--version", "v8", "--release"); code != kit.ExitOK {
		t.Fatal(errs)
	}
	f.production = "v7" // the release has not committed
	f.promotions[0].Status = api.PromotionStatusRunning
	polls := 0
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/promotions/op-1") {
			if polls++; polls == 2 {
				f.promotions[0].Status, f.production = api.PromotionStatusDone, "v8"
			}
		}
		f.ServeHTTP(w, r)
	})
	code, out, errs := runs{}.fake(t, h, "deploy", "--version", "v8", "--release")
	if code != kit.ExitOK || len(f.releases) != 1 || len(f.created) != 1 {
		t.Errorf("exit %d: %s", code, errs)
	}
	holds(t, "output", out+errs, "the release of shop/v8 runs already: waiting for it\n", "shop/v8 is production (was v7)")
}

// TestDeployReleaseCandidate: a candidate that cannot be used again gets another id.
func TestDeployReleaseCandidate(t *testing.T) {
	t.Parallel()
	other := "v6"
	for name, old := range map[string]api.Version{
		"failed":           {Status: api.VersionStatusFailed},
		"archived":         {Status: api.VersionStatusArchived},
		"other code":       {Status: api.VersionStatusReady, ArtifactDigest: "sha256:other"},
		"other production": {Status: api.VersionStatusReady, ParentVersionID: &other},
	} {
		f := newFake(t, "v7", "v7")
		old.ID, old.ProjectID = "v8-check", "shop"
		f.versions["v8-check"] = old
		code, _, errs := runs{}.fake(t, f, "deploy", "--version", "v8", "--release")
		if code != kit.ExitOK || len(f.created) != 1 || f.created[0].ID != candidateID("v8", "v7 "+f.created[0].ArtifactDigest, 1) || f.production != "v8" {
			t.Errorf("%s: exit %d, %+v: %s", name, code, f.created, errs)
		}
	}
}

func TestCandidateID(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 60) + "-b"
	seen := map[string]bool{}
	for _, id := range []string{candidateID("v8", "x", 0), candidateID("v8", "x", 1), candidateID("v8", "y", 1), candidateID("v8", "x", 2), candidateID(long, "x", 0), candidateID(long+"c", "x", 0), numbered(long, 2), numbered("v8", 12)} {
		if err := svc.CheckID(id); err != nil || seen[id] {
			t.Errorf("%s: %v", id, err)
		}
		seen[id] = true
	}
	if candidateID("v8", "x", 0) != "v8-check" || numbered("v8", 1) != "v8" || numbered("v8", 2) != "v8-2" || !strings.HasSuffix(candidateID(long, "", 0), "-check") {
		t.Errorf("%v", seen)
	}
}

// TestDeployReleaseRefused: what is wrong is said before anything is created.
func TestDeployReleaseRefused(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--release --parent v1":   "--release begins with the data of production, and --parent names v1",
		"--release --parent none": "--parent names none",
		"--check /health":         "are for --release",
		"--release --max-hold 2h": "--max-hold must be a duration",
	} {
		f := newFake(t, "v7", "v7")
		code, _, errs := runs{}.fake(t, f, append([]string{"deploy"}, strings.Fields(args)...)...)
		if code != kit.ExitUsage || !strings.Contains(errs, want) || len(f.created) > 0 {
			t.Errorf("%s: exit %d: %s", args, code, errs)
		}
	}
	f := newFake(t, "v7", "v7")
	f.roles = []api.WhoamiRoles{api.WhoamiRolesDeploy}
	if code, _, errs := (runs{}).fake(t, f, "deploy", "--release"); code != kit.ExitAuth || !strings.Contains(errs, "--release needs the admin token") || len(f.created) > 0 {
		t.Errorf("the deploy token: exit %d: %s", code, errs)
	}
}

// TestDeployParent: the words of --parent, and a promote that says what it left behind, also in the
// comment and as a document.
func TestDeployParent(t *testing.T) {
	t.Parallel()
	for flag, want := range map[string]string{"production": "@production", "@production": "@production", "shop/v6": "v6", "none": ""} {
		f := newFake(t, "v7", "v7", "v6")
		f.left = wrote()
		dir := t.TempDir()
		code, out, errs := runs{}.fake(t, f, "deploy", "--version", "v8", "--promote", "--parent", flag, "--comment-file", filepath.Join(dir, "c.md"), "--leave-writes")
		if code != kit.ExitOK || valueOf(f.created[0].ParentVersionID) != want || len(f.releases) != 0 || len(f.promotes) != 1 || !f.promotes[0].LeaveWrites {
			t.Errorf("%s: exit %d, %+v: %s", flag, code, f.created, errs)
		}
		holds(t, "output", out+errs, "production: http://shop.test\n", "v7 wrote what v8 lacks: D1 guestbook: rows of entries, KV keys", "to export them: svcctl data export shop/v7 --since-cut\n")
		comment, err := os.ReadFile(filepath.Join(dir, "c.md"))
		if err != nil {
			t.Fatal(err)
		}
		holds(t, "comment", string(comment), "| Left behind | v7 has what v8 lacks: D1 guestbook: rows of entries: 19 new; KV keys: 25 new, 1 deleted |\n| To export it | `svcctl data export shop/v7 --since-cut` |\n")
	}
	f := newFake(t, "v7", "v7", "production")
	f.left = wrote()
	_, out, _ := runs{}.fake(t, f, "deploy", "--version", "v8", "--promote", "--parent", "production", "-o", "json")
	holds(t, "stdout", out, `"rescue": "svcctl data export shop/v7 --since-cut"`, `"is_production": true`)
	if valueOf(f.created[0].ParentVersionID) != "production" {
		t.Error("a version with the id production is not the parent")
	}
}

// TestDeployReleaseOutputs: comment and outputs say what was released.
func TestDeployReleaseOutputs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := newFake(t, "v7", "v7")
	output, comment := filepath.Join(dir, "output"), filepath.Join(dir, "c.md")
	code, _, errs := runs{env: []string{"GITHUB_OUTPUT=" + output}}.fake(t, f, "deploy", "--version", "v8", "--release", "--comment-file", comment)
	if code != kit.ExitOK {
		t.Fatal(errs)
	}
	for file, wants := range map[string][]string{
		output:  {"version-id=v8\n", "prod-url=http://shop.test\n"},
		comment: {"### Released `shop/v8`\n", "| Release | was v7, held 84ms, 0 writes lost, 2 workflow instances moved |\n", "| Production | http://shop.test |\n"},
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		holds(t, file, string(text), wants...)
	}
	f.fails = "drain: release_busy: 1 request still runs"
	if code, _, errs = (runs{}).fake(t, f, "deploy", "--version", "v9", "--release", "--comment-file", comment); code != kit.ExitBusy {
		t.Fatal(errs)
	}
	text, err := os.ReadFile(comment)
	if err != nil {
		t.Fatal(err)
	}
	holds(t, "comment of a failure", string(text), "### Deploy failed: `shop/v9-check`\n", "release_busy")
}

// TestDeployReleaseDry: a dry run says that it would release, and creates nothing.
func TestDeployReleaseDry(t *testing.T) {
	t.Parallel()
	for flag, want := range map[string][]string{
		"--release": {`"release": true`, `"promote": false`, `"parent_version_id": "v7"`}, "--promote": {`"release": true`, `"promote": false`},
		"--promote --parent production": {`"release": false`, `"promote": true`, `"parent_version_id": "v7"`},
	} {
		f := newFake(t, "v7", "v7")
		code, out, errs := runs{}.fake(t, f, append(strings.Fields("deploy --dry-run --version v8 -o json"), strings.Fields(flag)...)...)
		if code != kit.ExitOK || len(f.created)+len(f.releases) > 0 {
			t.Errorf("%s: exit %d: %s", flag, code, errs)
		}
		holds(t, flag, out, want...)
	}
	f := newFake(t, "")
	if code, _, errs := (runs{}).fake(t, f, "deploy", "--dry-run", "--parent", "production"); code != kit.ExitUsage || !strings.Contains(errs, "--parent: project shop has no production version") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// TestDeploySeveral: all candidates come first, and a failure names what is released and what is not.
func TestDeploySeveral(t *testing.T) {
	t.Parallel()
	shop, mail := newFake(t, "v7", "v7"), newFake(t, "v7", "v7")
	mail.name = "mail"
	var order []string
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			order = append(order, r.URL.Path)
		}
		if strings.Contains(r.URL.Path, "/projects/mail") {
			mail.ServeHTTP(w, r)
			return
		}
		shop.ServeHTTP(w, r)
	})
	args := []string{"deploy", "-c", "wrangler.json", "-c", "mail/wrangler.json", "--version", "v8", "--release"}
	mail.fails = "drain: release_busy: 1 request still runs"
	code, out, errs := runs{dirs: []string{"mail"}}.fake(t, h, args...)
	if code != kit.ExitBusy || shop.production != "v8" || mail.production != "v7" {
		t.Errorf("exit %d: %s", code, errs)
	}
	holds(t, "output", out+errs, "shop/v8 is production", "Error: mail: the release of v8-check", "\nreleased: shop\nnot released: mail\n")
	if got := strings.Join(order, " "); got != "/v1/projects/shop/versions /v1/projects/mail/versions /v1/projects/shop/versions/v8-check/release /v1/projects/mail/versions/v8-check/release" {
		t.Errorf("order: %s", got)
	}
	// A candidate that fails: no production changes.
	shop, mail = newFake(t, "v7", "v7"), newFake(t, "v7", "v7")
	h2 := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/projects/mail/versions") {
			w.WriteHeader(http.StatusConflict)
			io.WriteString(w, `{}`)
			return
		}
		h(w, r)
	})
	code, _, errs = runs{dirs: []string{"mail"}}.fake(t, h2, args...)
	if code != kit.ExitConflict || shop.production != "v7" {
		t.Errorf("exit %d, production %s: %s", code, shop.production, errs)
	}
	holds(t, "stderr", errs, "\nnot released: shop\n")
}
