package cli

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/api"
)

// TestPromoteAsks: a promote that leaves writes behind shows them and asks; a script must accept it
// in the command line.
func TestPromoteAsks(t *testing.T) {
	t.Parallel()
	stranger := &api.Unmerged{Reason: api.UnmergedReasonUnrelated}
	for name, tc := range map[string]struct {
		left  *api.Unmerged
		args  string
		typed string
		code  int
		says  []string
		sent  string // leave_writes of the promote; "" for none
	}{
		"nothing stays": {&api.Unmerged{}, "", "", kit.ExitOK, nil, "false"},
		"no production": {nil, "", "", kit.ExitOK, nil, "false"},
		"a script": {wrote(), "", "", kit.ExitLeaves, []string{
			"v1 wrote since 2026-11-28T05:18:11Z, and v2 lacks:\n", "D1 guestbook: rows of entries  19 ",
			"Error: the promote would leave writes of production v1 behind\nto keep them: svcctl release shop/v2 (the code of v2 on the data of production)\n" +
				"to leave them: --leave-writes, then svcctl data export shop/v1 --since-cut\n",
		}, ""},
		"a stranger": {stranger, "", "", kit.ExitLeaves, []string{"no common cut: v1 and v2 inherited nothing from each other", "svcctl release shop/v2"}, ""},
		"--leave-writes": {wrote(), "--leave-writes", "", kit.ExitOK, []string{
			"v1 wrote what v2 lacks: D1 guestbook: rows of entries, KV keys; svcctl promotions get op-1 counts them\nto export them: svcctl data export shop/v1 --since-cut\n",
		}, "true"},
		"--yes":                 {stranger, "--yes", "", kit.ExitOK, []string{"no common cut", "to export them: svcctl data export shop/v1 --since-cut\n"}, "true"},
		"a terminal, confirmed": {wrote(), "", "v2\n", kit.ExitOK, []string{"KV keys ", "to keep them: svcctl release shop/v2", "type v2 to continue: "}, "true"},
		"a terminal, refused":   {wrote(), "", "no\n", kit.ExitUsage, []string{"nothing was changed"}, ""},
		"a terminal, nothing":   {&api.Unmerged{}, "", "x", kit.ExitOK, nil, "false"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, "v1", "v1", "v2")
			f.left = tc.left
			code, out, errs := runs{typed: tc.typed}.fake(t, f, append(strings.Fields("promote v2 "+tc.args), "-o", "table")...)
			if code != tc.code {
				t.Errorf("exit %d, want %d: %s%s", code, tc.code, out, errs)
			}
			holds(t, "stderr", errs, tc.says...)
			sent := ""
			for _, p := range f.promotes {
				sent += string(must(t, p.LeaveWrites))
			}
			if sent != tc.sent {
				t.Errorf("promotes with leave_writes %q, want %q", sent, tc.sent)
			}
			if len(f.promotes) == 1 && tc.args == "" && (f.promotes[0].ExpectedProdVersionID == nil || *f.promotes[0].ExpectedProdVersionID != "v1") {
				t.Error("the promote does not hold for the production of the plan alone")
			}
		})
	}
}

func must(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestPromoteGuarded: the refusal of a server with a guard is explained like the question, in JSON too.
func TestPromoteGuarded(t *testing.T) {
	t.Parallel()
	f := newFake(t, "v1", "v1", "v2")
	f.refuse["promote"] = http.StatusConflict
	code, _, errs := runs{}.fake(t, f, "promote", "v2")
	if code != kit.ExitLeaves {
		t.Errorf("exit %d", code)
	}
	holds(t, "stderr", errs, "refused with promote_leaves_writes", "svcctl release shop/v2", "svcctl data export shop/v1 --since-cut")
	_, _, errs = runs{}.fake(t, f, "promote", "v2", "-o", "json")
	holds(t, "stderr", errs, `"code":"promote_leaves_writes"`, `"exit_code":9`)
	f = newFake(t, "v1", "v1", "v2")
	f.left = wrote()
	_, _, errs = runs{}.fake(t, f, "promote", "v2", "-o", "json")
	holds(t, "stderr", errs, `"code":"promote_leaves_writes"`, `"exit_code":9`)
}

// TestPromoteDocument: the JSON document says what stayed behind, and names the rescue.
func TestPromoteDocument(t *testing.T) {
	t.Parallel()
	f := newFake(t, "v1", "v1", "v2")
	f.left = wrote()
	_, out, _ := runs{}.fake(t, f, "promote", "v2", "--yes", "-o", "json")
	holds(t, "stdout", out, `"rescue": "svcctl data export shop/v1 --since-cut"`, `"inserted": 19`)
}

// TestPromotions: the list and the record tell a release from a promote.
func TestPromotions(t *testing.T) {
	t.Parallel()
	f := newFake(t, "v7", "v7", "v8-check", "v9")
	if code, _, errs := (runs{}).fake(t, f, "release", "v8-check", "--version", "v8"); code != kit.ExitOK {
		t.Fatal(errs)
	}
	f.left = wrote()
	if code, _, errs := (runs{}).fake(t, f, "promote", "v9", "--yes"); code != kit.ExitOK {
		t.Fatal(errs)
	}
	f.promotions[1].LateWritesRefused = 3
	_, out, _ := runs{}.fake(t, f, "promotions", "list")
	flat := strings.Join(strings.Fields(out), " ")
	holds(t, "list", flat, "OPERATION KIND VERSION WAS STATUS AGE TOOK HELD MOVED LATE REASON", "op-2 promote v9 v8 done - ... - - -", "op-1 release v8 v7 done - ... 84.2ms 2 3")
	_, out, _ = runs{}.fake(t, f, "promotions", "get", "op-1")
	holds(t, "release", out, "op-1: release done of shop/v8", "  code     of v8-check\n", "    seal           37ms\n", "  late     3 writes refused\n", "  moved    2 workflow instances\n")
	_, out, errs := runs{}.fake(t, f, "promotions", "get", "op-2")
	holds(t, "promote", out+errs, "op-2: done of shop/v9", "KV keys", "to export them: svcctl data export shop/v8 --since-cut\n")
	f.promotions = f.promotions[:1]
	_, out, _ = runs{}.fake(t, f, "promotions", "list")
	if strings.Contains(out, "MOVED") {
		t.Errorf("without a release: %s", out)
	}
}

// TestProjectModes: the guard and read-only are set alone, and shown.
func TestProjectModes(t *testing.T) {
	t.Parallel()
	f := newFake(t, "v1", "v1")
	for args, want := range map[string]string{
		"--guard": `{"guard":true}`, "--guard=false": `{"guard":false}`, "--read-only=false --guard": `{"guard":true,"read_only":false}`, "--read-only": `{"read_only":true}`,
	} {
		f.changes = nil
		code, out, errs := runs{}.fake(t, f, append([]string{"projects", "set", "shop"}, strings.Fields(args)...)...)
		if code != kit.ExitOK || len(f.changes) != 1 || string(must(t, f.changes[0])) != want {
			t.Errorf("%s: exit %d, %s: %s", args, code, must(t, f.changes), errs)
		}
		holds(t, "stdout", out, "  guard      on", "  read-only  on")
	}
	code, out, _ := against(t, answer(t, api.Project{ID: "shop", Guard: true, ReadOnly: true}), "projects", "get", "shop")
	holds(t, "stdout", out, "  guard      on", "  read-only  on")
	if code != kit.ExitOK {
		t.Errorf("exit %d", code)
	}
}
