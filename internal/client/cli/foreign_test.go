package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/foreign"
)

// TestForeignCommands: each command line that the words of other tools lead to is one that the program understands, and
// no row hides a command or a flag of svcctl.
func TestForeignCommands(t *testing.T) {
	t.Parallel()
	root := New(&kit.Kit{Dir: "/"}, forms())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, r := range foreign.All() {
		if r.Alias && hasCommand(root, r.Literals()) {
			t.Errorf("%s is a command of svcctl", r.Words)
		}
		if exists := hasCommand(root, r.Literals()); exists {
			for _, flag := range r.Flags() {
				if cmd, _, err := root.Find(r.Literals()); err != nil || cmd.Flags().Lookup(flag) != nil || cmd.InheritedFlags().Lookup(flag) != nil {
					t.Errorf("%s: the command has this flag", r.Words)
				}
			}
		}
		for _, line := range r.Commands() {
			if err := understood(words(line), !r.Alias && needsAll(line)); err != nil {
				t.Errorf("%s: %s: %v", r.Words, line, err)
			}
		}
	}
}

// needsAll reports whether a command line names what it is about, and not the command alone.
func needsAll(line string) bool {
	return strings.ContainsAny(strings.TrimPrefix(line, "svcctl "), "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
}

// TestWranglerCommands: each command of wrangler's own help is one of svcctl, or has a row.
func TestWranglerCommands(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/wrangler-commands.txt")
	if err != nil {
		t.Fatal(err)
	}
	root := New(&kit.Kit{Dir: "/"}, forms())
	exists := func(words []string) bool { return hasCommand(root, words) }
	count := 0
	for command := range strings.Lines(string(text)) {
		args := strings.Fields(command)
		if len(args) == 0 || args[0] == "#" {
			continue
		}
		count++
		if _, ok := foreign.Find(foreign.Refused{Args: args, Exists: exists}); !ok && !exists(args) {
			t.Errorf("no answer to wrangler %s", strings.TrimSpace(command))
		}
	}
	if count < 150 {
		t.Errorf("only %d commands", count)
	}
}

// TestForeignAnswers: what the program says to people who use the words of other tools.
func TestForeignAnswers(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"secrets set TOKEN=x":      `Error: no command "secrets set": secrets belong to a project: svcctl secret put NAME, where the server has SVC_SECRETS_KEY; `,
		"d1 execute main --remote": "Error: no flag --remote: choose the server with --server or --context: svcctl d1 execute VERSION --binding DB --command SQL",
		"deploy --prod":            "Error: no flag --prod: new code on the data of production: svcctl deploy --release",
		"d1 create x --location a": `Error: no command "d1 create": a deploy makes the database`,
		"kv key put v1 k":          "Error: missing value",
		"maintenance":              "svcctl projects set shop --read-only",
		"rm":                       "svcctl versions delete VERSION",
		"zz":                       "Error: unknown command \"zz\" for \"svcctl\"\nsee: svcctl --help\n",
		"deplyo":                   "Did you mean this?\n\tdeploy",
		"deploy --prject shop":     "did you mean --project?",
	} {
		dir := projectDir(t)
		code, out, errs := run(t, []string{"SVCCTL_ADMIN_TOKEN=x", "SVCCTL_SERVER=http://127.0.0.1:1"}, append([]string{"--cwd", dir}, strings.Fields(line)...)...)
		if code != kit.ExitUsage || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %s%s", line, code, out, errs)
		}
	}
}

// TestForeignJSON: a program gets the code and the commands.
func TestForeignJSON(t *testing.T) {
	t.Parallel()
	_, _, errs := run(t, nil, "-o", "json", "publish")
	var p struct {
		Code string   `json:"code"`
		Exit int      `json:"exit_code"`
		Next []string `json:"next"`
	}
	if err := json.Unmarshal([]byte(errs), &p); err != nil || p.Code != "foreign_command" || p.Exit != kit.ExitUsage || !slices.Equal(p.Next, []string{"svcctl deploy --release", "svcctl deploy --wait"}) {
		t.Errorf("%v: %s", err, errs)
	}
}

// TestForeignAlias: the command of an alias runs with the other arguments, and is named.
func TestForeignAlias(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	code, out, errs := run(t, []string{"XDG_CONFIG_HOME=" + home}, "contexts", "-o", "json")
	if code != kit.ExitOK || !strings.HasPrefix(strings.TrimSpace(out), "[") || errs != "running: svcctl context list -o json\n" {
		t.Errorf("exit %d, %s, %s", code, out, errs)
	}
	if code, _, errs = run(t, nil, "contexts", "frobnicate"); code != kit.ExitUsage || !strings.Contains(errs, `unexpected argument "frobnicate"`) {
		t.Errorf("exit %d, %s", code, errs)
	}
}

// projectDir is a worker directory with a database.
func projectDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	text := `{ "name": "shop", "main": "index.js", "compatibility_date": "2026-11-01", "d1_databases": [{ "binding": "DB", "database_name": "main" }], "kv_namespaces": [{ "binding": "KV" }] }`
	if err := os.WriteFile(filepath.Join(dir, "wrangler.jsonc"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}
