package cli

import (
	"net/http"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/api"
)

// afterRelease is a project in which v8 was released over v7, and v7 promoted over v6.
func afterRelease(t *testing.T) *fakeAPI {
	t.Helper()
	f := newFake(t, "v8", "v6", "v7", "v8")
	f.left = wrote()
	f.promotions = []api.Promotion{
		{OperationID: "op-b", ProjectID: "shop", Kind: api.PromotionKindRelease, Status: api.PromotionStatusDone, VersionID: "v8", CandidateVersionID: "v8-check", PreviousVersionID: "v7"},
		{OperationID: "op-a", ProjectID: "shop", Kind: api.PromotionKindPromote, Status: api.PromotionStatusDone, VersionID: "v7", PreviousVersionID: "v6"},
	}
	return f
}

// TestRollbackOfARelease: a script chooses which data the earlier code has, a person is asked.
func TestRollbackOfARelease(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args, typed string
		code        int
		says        []string
		did         string // the last change of production; "" for none
	}{
		"a script":  {"", "", kit.ExitUsage, []string{"Error: v8 was released on the data of v7: keep today's data, or restore that of before v8: use --keep-data or --restore-data when there is no terminal\n"}, ""},
		"only -y":   {"-y", "", kit.ExitUsage, []string{"--keep-data or --restore-data"}, ""},
		"both":      {"--keep-data --restore-data", "", kit.ExitUsage, []string{"exclude each other"}, ""},
		"forced":    {"--force --restore-data", "", kit.ExitUsage, []string{"--force is for --keep-data"}, ""},
		"keep":      {"--keep-data -m slow", "", kit.ExitOK, []string{"shop/v-generated is production (was v8)   held 84ms   0 writes lost", "the code of v7 and the data of v8"}, "release of v7: rollback: slow"},
		"restore":   {"--restore-data", "", kit.ExitOK, []string{"v7 would replace v8 as production of shop\n", "KV keys ", "to export them: svcctl data export shop/v8 --since-cut\n"}, "promote of v7: rollback"},
		"earlier":   {"v6 --restore-data", "", kit.ExitOK, []string{"v6 would replace v8"}, "promote of v6: rollback"},
		"unknown":   {"v9 --restore-data", "", kit.ExitUsage, []string{"v9 was not production before v8, or a rollback left it: go forward with svcctl release shop/v9 or svcctl promote shop/v9"}, ""},
		"asked":     {"", "keep\n", kit.ExitOK, []string{"with --keep-data: the code of v7 on today's data, no write lost, expected hold 0.1s\n", "with --restore-data: v7 with its data of before the release\n", "type keep or restore: "}, "release of v7: rollback"},
		"asked too": {"", "restore\n", kit.ExitOK, []string{"KV keys "}, "promote of v7: rollback"},
		"refused":   {"", "yes\n", kit.ExitUsage, []string{"nothing was changed"}, ""},
		"confirmed": {"--restore-data", "v7\n", kit.ExitOK, []string{"type v7 to continue"}, "promote of v7: rollback"},
		"unsure":    {"--restore-data", "no\n", kit.ExitUsage, []string{"the rollback leaves these writes in v8\n", "nothing was changed"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := afterRelease(t)
			code, out, errs := runs{typed: tc.typed}.fake(t, f, append([]string{"rollback"}, strings.Fields(tc.args)...)...)
			if code != tc.code {
				t.Errorf("exit %d, want %d: %s", code, tc.code, errs)
			}
			holds(t, "output", out+errs, tc.says...)
			did := ""
			if p := f.promotions[0]; p.OperationID != "op-b" {
				did = string(p.Kind) + " of " + p.VersionID + ": " + p.Reason
				if p.Kind == api.PromotionKindRelease {
					did = "release of " + p.CandidateVersionID + ": " + p.Reason
				}
			}
			if did != tc.did {
				t.Errorf("did %q, want %q", did, tc.did)
			}
			for _, p := range f.promotes {
				if !p.LeaveWrites || *p.ExpectedProdVersionID != "v8" {
					t.Errorf("promote %+v", p)
				}
			}
			for _, r := range f.releases {
				if !r.Rollback || *r.ExpectedProdVersionID != "v8" {
					t.Errorf("release %+v", r)
				}
			}
		})
	}
}

// TestRollbackGoesFurtherBack: the second rollback does not return to what the first one left.
func TestRollbackGoesFurtherBack(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--keep-data", "--restore-data"} {
		f := afterRelease(t)
		for _, want := range []string{"v7", "v6"} {
			if code, _, errs := (runs{}).fake(t, f, "rollback", flag); code != kit.ExitOK {
				t.Fatalf("%s: exit %d: %s", flag, code, errs)
			}
			p := f.promotions[0]
			if p.VersionID != want && p.CandidateVersionID != want {
				t.Errorf("%s: back to %+v, want %s", flag, p, want)
			}
			f.versions["v-generated"] = f.versions["v7"]
		}
		if code, _, errs := (runs{}).fake(t, f, "rollback", flag); code != kit.ExitFailure || !strings.Contains(errs, "Error: no earlier production version: use svcctl promote VERSION\n") {
			t.Errorf("%s: exit %d: %s", flag, code, errs)
		}
	}
}

// TestRollbackOfAPromote: it needs no flag in a script, and shows what stays behind.
func TestRollbackOfAPromote(t *testing.T) {
	t.Parallel()
	f := afterRelease(t)
	f.production, f.promotions = "v7", f.promotions[1:]
	code, out, errs := runs{}.fake(t, f, "rollback")
	if code != kit.ExitOK || f.production != "v6" || !f.promotes[0].LeaveWrites {
		t.Errorf("exit %d, production %s", code, f.production)
	}
	holds(t, "output", out+errs, "v6 would replace v7", "v6 is production at http://shop.test (was v7)\n")
	f = afterRelease(t)
	f.production, f.promotions = "v7", f.promotions[1:]
	if code, _, errs := (runs{typed: "no\n"}).fake(t, f, "rollback"); code != kit.ExitUsage || f.production != "v7" {
		t.Errorf("not confirmed: exit %d: %s", code, errs)
	}
}

// TestRollbackSchemaMoved: code that may not work on today's data is refused, and the other way is
// counted.
func TestRollbackSchemaMoved(t *testing.T) {
	t.Parallel()
	f := afterRelease(t)
	f.refuse["release"] = http.StatusConflict
	code, _, errs := runs{}.fake(t, f, "rollback", "--keep-data")
	if code != kit.ExitConflict || len(f.promotes) != 0 {
		t.Errorf("exit %d", code)
	}
	holds(t, "stderr", errs, "the other way, svcctl rollback --restore-data:\nv7 would replace v8", "KV keys ", "Error: refused with schema_moved")
	f.refuse = nil
	if code, _, errs := (runs{}).fake(t, f, "rollback", "--keep-data", "--force"); code != kit.ExitOK || !f.releases[0].Force {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// TestRollbackPlan: the plan changes nothing, and is a document for scripts.
func TestRollbackPlan(t *testing.T) {
	t.Parallel()
	f := afterRelease(t)
	_, out, _ := runs{}.fake(t, f, "rollback", "--plan")
	holds(t, "stdout", out, "a rollback of shop goes back from v8 to v7\n", "with --keep-data", "with --restore-data", "KV keys ")
	_, out, _ = runs{}.fake(t, f, "rollback", "--plan", "--restore-data", "-o", "json")
	holds(t, "stdout", out, `"version_id": "v7"`, `"keep_data": null`, `"inserted": 19`)
	if len(f.promotions) != 2 {
		t.Error("production was changed")
	}
}
