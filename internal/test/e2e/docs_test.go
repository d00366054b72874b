//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestDocsRun runs the commands of the README and of the guides. Blocks of one session follow
// each other in one shell, and begin with what testdata/docs/SESSION.sh prepares. Needs curl and
// jq, as a reader does.
func TestDocsRun(t *testing.T) {
	t.Parallel()
	sessions := map[string][]block{}
	for _, b := range docsBlocks(t) {
		sessions[b.session] = append(sessions[b.session], b)
	}
	for name, blocks := range sessions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newDocs(t, name)
			s.runs(blocks)
		})
	}
}

// docs is a session: a shell with the programs in its PATH, and a server.
type docs struct {
	t    *testing.T
	d    *daemon
	name string
	port map[string]string // of the documentation, and the one that stands for it
}

// newDocs starts the server, unless the session starts it itself.
func newDocs(t *testing.T, name string) *docs {
	t.Helper()
	s := &docs{t: t, name: name}
	if name == "readme" { // a server as a reader has it, with its data where it is by default
		s.d = newDaemon(t)
		s.d.env = slices.DeleteFunc(s.d.env, func(v string) bool { return strings.HasPrefix(v, "SVC_DATA_DIR=") || strings.HasPrefix(v, "SVC_LOG_") })
		s.port = map[string]string{":8787": freePort(t), ":8790": freePort(t)}
		return s
	}
	s.d = started(t, "SVC_INGRESS_BASE_DOMAIN=localhost")
	s.port = map[string]string{":8787": portOf(t, s.d.note.Gateway), ":8790": portOf(t, s.d.note.API)}
	return s
}

// runs runs the blocks, and checks that each ended well and printed what is documented.
func (s *docs) runs(blocks []block) {
	s.t.Helper()
	prepare, err := os.ReadFile(filepath.Join("testdata/docs", s.name+".sh"))
	if err != nil {
		s.t.Fatal(err)
	}
	script := "set -euo pipefail\n" + string(prepare)
	for _, b := range blocks {
		script += "\nprintf '\\n==> %s\\n' " + b.at + "\n" + s.here(strings.Join(b.lines, "\n")) + "\n"
	}
	cmd := exec.CommandContext(s.t.Context(), "bash", "-x", "-c", script+"printf '\\n==> end\\n'")
	cmd.Dir = svctest.ShortDir(s.t)
	cmd.Env = s.environ(cmd.Dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
	for _, b := range blocks {
		_, printed, _ := strings.Cut(string(out), "\n==> "+b.at+"\n")
		printed, _, _ = strings.Cut(printed, "\n==> ")
		s.prints(b, strings.ReplaceAll(strings.Join(strings.Fields(printed), " "), s.d.home, "~"))
	}
}

// prints checks the lines of a block's output that no run changes: those without a number. The
// other guides show other projects than that of the session "shop".
func (s *docs) prints(b block, printed string) {
	s.t.Helper()
	for _, line := range b.output {
		if s.name != "shop" && !strings.ContainsAny(line, "0123456789") && !strings.Contains(line, "...") &&
			!strings.Contains(printed, strings.Join(strings.Fields(line), " ")) {
			s.t.Errorf("%s does not print %q but\n%s", b.at, line, printed)
		}
	}
}

// here replaces what the documentation cannot know.
func (s *docs) here(text string) string {
	for from, to := range s.port {
		text = strings.ReplaceAll(text, from, ":"+to)
	}
	return strings.NewReplacer("https://deploy.example.com", "http://127.0.0.1:"+s.port[":8790"], "/mnt/backup", "$HOME/backup",
		"shop/v-20261122093000", "shop/v7", "VERSION", "shop/v7", " &\n", " &\ncurl -sf --retry 60 --retry-delay 1 --retry-connrefused -o /dev/null http://127.0.0.1:"+s.port[":8790"]+"/v1/health\n").Replace(text)
}

// environ has the programs in PATH, and the ports for a server of the session's own.
func (s *docs) environ(dir string) []string {
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Symlink(svcctl, filepath.Join(bin, "svcctl")); err != nil {
		s.t.Fatal(err)
	}
	repo, err := filepath.Abs("../../..")
	if err != nil {
		s.t.Fatal(err)
	}
	return append(s.d.env, "PATH="+bin+":"+os.Getenv("PATH"), "REPO="+repo, "GATEWAY_PORT="+s.port[":8787"], "PLATFORM_PORT="+s.port[":8790"],
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com")
}

// portOf returns the port of a URL or address.
func portOf(t *testing.T, address string) string {
	t.Helper()
	i := strings.LastIndex(address, ":")
	if i < 0 {
		t.Fatal(address)
	}
	return strings.TrimRight(address[i+1:], "/")
}

// TestDocsMarkers: what blocksOf makes of a document.
func TestDocsMarkers(t *testing.T) {
	t.Parallel()
	const text = "<!-- doctest: shop, but not: open: it opens a window -->\n```console\n$ a \\\n  b\nsays\n$ open x\n```\n\n" +
		"<!-- doctest: not run: it needs a moon -->\n```sh\nfly\n```\n"
	got := fmt.Sprintf("%+v", blocksOf(t, "x.md", text))
	if want := `[{at:x.md:2 session:shop lines:[a    b] output:[says]}]`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
