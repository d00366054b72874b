//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/config"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// own is a client of the server inside watch mode.
func (d *developer) own() *client.Client {
	d.t.Helper()
	note, err := config.ReadNote(d.dir + "/.svcctl/data")
	if err != nil {
		d.t.Fatal(err)
	}
	c, err := client.New(note.API, client.Tokens{Deploy: note.DeployToken, Admin: note.AdminToken}, client.Options{})
	if err != nil {
		d.t.Fatal(err)
	}
	return c
}

// statuses counts the versions of a project by status.
func statuses(t *testing.T, c *client.Client, project string) string {
	t.Helper()
	n := map[api.VersionStatus]int{}
	for v, err := range c.AllVersions(t.Context(), project, "") {
		if err != nil {
			t.Fatal(err)
		}
		n[v.Status]++
	}
	return fmt.Sprintf("%d ready, %d archived, %d failed", n[api.VersionStatusReady], n[api.VersionStatusArchived], n[api.VersionStatusFailed])
}

// Watch mode on a shared server begins with the data of a version there, leaves that
// version and production alone, and stops its own versions at the end.
func TestDevSharedServer(t *testing.T) {
	t.Parallel()
	server := started(t)
	d := newDeveloper(t, counterFiles())
	d.env = append(d.env, "SVCCTL_SERVER="+server.note.API, "SVCCTL_DEPLOY_TOKEN="+server.note.DeployToken,
		"SVCCTL_ADMIN_TOKEN="+server.note.AdminToken, "USER=Ada.L")
	if out, code := d.run("deploy", "--version", "staging", "--wait"); code != 0 {
		t.Fatalf("%d %s", code, out)
	}
	hits := func() string {
		out, code := d.run("d1", "execute", "staging", "--command", "SELECT count(*) AS n FROM hits", "--project", "count", "-o", "json")
		if code != 0 {
			t.Fatalf("%d %s", code, out)
		}
		return out
	}
	d.write("src/index.js", counter("mine"))
	d.start("--parent", "staging", "--var", "A:b")
	d.await(`save 1 `)
	d.expect("/", "mine 1")
	d.write("src/index.js", counter("mine again"))
	d.await(`save 2 `)
	d.expect("/", "mine again 2")
	if got := hits(); !strings.Contains(got, `"n": 0`) {
		t.Errorf("the parent has hits of its child: %s", got)
	}
	c, err := client.New(server.note.API, client.Tokens{Deploy: server.note.DeployToken, Admin: server.note.AdminToken}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	svctest.Eventually(t, "the end of the first save", func() bool { return statuses(t, c, "count") == "2 ready, 1 archived, 0 failed" })
	if p, err := c.Project(t.Context(), "count"); err != nil || p.ProdVersionID != "staging" {
		t.Errorf("%+v %v", p, err)
	}
	versions := d.saves("count@" + strings.ReplaceAll(strings.TrimPrefix(server.note.API, "http://"), ":", "-"))
	if len(versions) != 2 || !strings.HasPrefix(versions[0], "dev-ada-l-") || !strings.HasSuffix(versions[0], "-s1") {
		t.Errorf("%v", versions)
	}
	d.write("src/index.js", counter("mine at last"))
	d.await(`save 3 `) // the version before is archived later, or at the end
	if code := d.interrupt(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if got := statuses(t, c, "count"); got != "1 ready, 3 archived, 0 failed" {
		t.Error(got)
	}
	d.start()
	d.await(`save 4 `)
	d.expect("/", "mine at last 3")
}

// The variables of the developer's files, as wrangler reads them.
func TestDevVariables(t *testing.T) {
	t.Parallel()
	d := newDeveloper(t, map[string]string{
		"wrangler.jsonc": `{ "name": "vars", "main": "index.js", "compatibility_date": "2026-11-01", "vars": { "A": "file", "B": "file", "C": "file" } }`,
		"index.js":       `export default { fetch: (req, env) => new Response([env.A, env.B, env.C, env.D].join(" ")) }`,
		".env":           "A=env\nD=env\n", ".env.local": "D=local\n",
	})
	d.start("--var", "C:flag")
	d.await(`save 1 `)
	d.expect("/", "env file flag local")
	d.write(".dev.vars", "B=\"dev vars\"\n")
	d.await(`save 2  .dev.vars`)
	d.expect("/", "file dev vars flag ")
	d.write(".dev.vars", "B='open\n")
	d.await(`.dev.vars: line 1: the closing quote is missing`)
	d.await(`save 3  .dev.vars`)
	d.expect("/", "file 'open flag ")
	d.write(".dev.vars", "# nothing\n")
	d.await(`save 4  .dev.vars`)
	d.expect("/", "file file flag ")
}
