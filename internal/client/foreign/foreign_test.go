package foreign

import (
	"slices"
	"strings"
	"testing"
)

// none is a program without commands.
func none([]string) bool { return false }

// TestTable: the rows are well-formed, and each line of the file is one.
func TestTable(t *testing.T) {
	t.Parallel()
	all := All()
	if lines := strings.Count(list, "\n"); len(all) != lines-1 || len(all) < 130 {
		t.Errorf("%d rows of %d lines", len(all), lines)
	}
	seen := map[string]bool{}
	for _, r := range all {
		key := strings.Join(append(r.Literals(), r.Flags()...), " ")
		if seen[key] || key == "" || len(r.Commands()) == 0 {
			t.Errorf("%q is there twice, or has no command", r.Words)
		}
		seen[key] = true
		if strings.Count(r.Text, "`")%2 != 0 || strings.HasSuffix(r.Text, ".") || r.Alias && strings.Contains(r.Text, "`") {
			t.Errorf("%q: %q", r.Words, r.Text)
		}
	}
}

// TestNoPromote: what other tools call a deploy or a promote keeps the data, so no row leads to a promote.
func TestNoPromote(t *testing.T) {
	t.Parallel()
	for _, r := range All() {
		for _, line := range r.Commands() {
			if f := strings.Fields(line); f[1] == "promote" || slices.Contains(f, "--promote") {
				t.Errorf("%q leads to a promote: %s", r.Words, line)
			}
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"secrets set TOKEN":                       "secrets set",
		"--env staging versions secret put TOKEN": "versions secret put NAME",
		"d1 execute shop --remote --command x":    "d1 execute DATABASE --remote",
		"d1 execute shop":                         "d1 execute DATABASE",
		"kv:key put k v":                          "kv key put",
		"config:set A=b":                          "config:set NAME",
		"deployments list --name shop":            "deployments list",
		"deployments frobnicate":                  "deployments",
		"-C prod PS":                              "ps",
		"frobnicate ps":                           "",
		"d1":                                      "",
		"deploy http://localhost:8787/x --tag a":  "deploy --tag",
	} {
		m, ok := Find(Refused{Args: strings.Fields(args), Exists: none})
		if ok != (want != "") || m.Words != want {
			t.Errorf("%s: %q, want %q", args, m.Words, want)
		}
	}
}

// TestConcerns: the rows of a command that svcctl has are for its unknown flags, or for wrong arguments.
func TestConcerns(t *testing.T) {
	t.Parallel()
	all := func([]string) bool { return true }
	for _, tc := range []struct{ args, flag, want string }{
		{"deploy --prod", "prod", "deploy --prod"},
		{"deploy --prod --frobnicate", "frobnicate", ""},
		{"d1 execute shop --comand x", "comand", ""},
		{"d1 execute shop x", "", "d1 execute DATABASE"},
	} {
		m, _ := Find(Refused{Args: strings.Fields(tc.args), Flag: tc.flag, Exists: all})
		if m.Words != tc.want {
			t.Errorf("%s, refused for %q: %q", tc.args, tc.flag, m.Words)
		}
	}
}

func TestInstead(t *testing.T) {
	t.Parallel()
	args := strings.Fields("-C prod deployments list --limit 3")
	m, _ := Find(Refused{Args: args, Exists: none})
	if got := strings.Join(m.Instead(args), " "); got != "promotions list -C prod --limit 3" {
		t.Error(got)
	}
}

// TestHint: names of the project and of the command line are filled in, and nothing that a shell would read otherwise.
func TestHint(t *testing.T) {
	t.Parallel()
	names := Names{"PROJECT": "guestbook", "DATABASE": "DB", "DATABASE main": "DB", "DATABASE log": "LOG"}
	for args, want := range map[string]string{
		"d1 execute log":       "--binding LOG ",
		"d1 execute unknown":   "--binding DB ",
		"secrets unset TOKEN":  "svcctl secret delete TOKEN",
		"secrets unset $(rm)":  "svcctl secret delete NAME",
		"deployments status":   "svcctl projects get guestbook",
		"hyperdrive create":    "Hyperdrive (docs/guide/other-bindings.md#hyperdrive)",
		"queues create orders": "add it to queues of the project file",
	} {
		m, _ := Find(Refused{Args: strings.Fields(args), Exists: none})
		text, next := m.Hint(names)
		if !strings.Contains(text, want) || strings.Contains(text, "`") || len(next) != len(m.Commands()) {
			t.Errorf("%s: %s, next %q", args, text, next)
		}
	}
}
