//go:build e2e

package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// TestData looks into the data of real versions and changes it: what the worker
// writes is seen, what is written is what the worker reads, and each version
// has its own.
// spec: [C2.17] [C14.1] [C14.3] [C14.4] [C14.5] [C14.8] [C14.9]
func TestData(t *testing.T) {
	t.Parallel()
	const dir = "../../../examples/guestbook"
	d := started(t)
	one := d.deploy(dir, "--version", "v1")
	d.deploy(dir, "--version", "v2")
	d.sign(one.PreviewURL, "ada", 201)
	d.sign(one.PreviewURL, "bob", 201)

	bindings, err := d.client().Bindings(t.Context(), one.ProjectID, "v1")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]string{}
	for _, b := range bindings {
		kinds[b.Kind] = b.Name
		if b.Branched || b.ForkTXID != "" || b.ParentVersionID != nil {
			t.Errorf("branched from nothing: %+v", b)
		}
	}
	table := d.entries("v1")
	names := d.ok(dir, "d1", "execute", "v1", "--command", "select name from "+table+" order by name")
	if got := strings.Fields(names); strings.Join(got, " ") != "name ada bob" {
		t.Errorf("the command shows %q", got)
	}
	d.writes(dir, table)
	if g := d.guestbook(one.PreviewURL); len(g.Entries) != 1 || g.Entries[0].Name != "eve" {
		t.Errorf("the worker sees %+v", g.Entries)
	}
	if got := d.ok(dir, "d1", "execute", "v2", "--command", "select count(*) n from "+table); strings.Join(strings.Fields(got), " ") != "n 0" {
		t.Errorf("v2 has v1's rows: %q", got)
	}
	if kinds["kv"] == "" {
		t.Fatalf("the guestbook has no namespace: %v", kinds)
	}
	d.keyValue(dir, kinds["kv"])
	d.dataAtRest(one)
}

// entries is the table of the guestbook's entries.
func (d *daemon) entries(version string) string {
	d.t.Helper()
	tables, err := d.client().Tables(d.t.Context(), "guestbook", version, "")
	if err != nil {
		d.t.Fatal(err)
	}
	for _, table := range tables {
		if table.Name != "d1_migrations" && *table.RowCount == 2 {
			page, err := d.client().Rows(d.t.Context(), "guestbook", version, table.Name, client.RowsOptions{})
			if err != nil || len(page.Rows) != 2 || len(page.Columns) != len(table.Columns) {
				d.t.Errorf("%+v %v", page, err)
			}
			return table.Name
		}
	}
	d.t.Fatalf("no table has both entries: %+v", tables)
	return ""
}

// writes changes rows, which takes --write.
func (d *daemon) writes(dir, table string) {
	d.t.Helper()
	text := "delete from " + table + " order by name limit 1; update " + table + " set name = 'eve' where name = 'bob'"
	if _, errs, code := d.run(dir, "d1", "execute", "v1", "--command", text); code == 0 || !strings.Contains(errs, "add --write") {
		d.t.Errorf("a read-only query wrote: %d %s", code, errs)
	}
	d.ok(dir, "d1", "execute", "guestbook/v1", "--write", "--command", text)
	if _, errs, code := d.run(dir, "d1", "execute", "v1", "--command", "select nope"); code == 0 || !strings.Contains(errs, "no such column: nope") {
		d.t.Errorf("wrong SQL: %d %s", code, errs)
	}
}

// keyValue stores, lists, reads and deletes keys by the command.
func (d *daemon) keyValue(dir, binding string) {
	d.t.Helper()
	file := filepath.Join(d.home, "value")
	if err := os.WriteFile(file, []byte("bytes \x00\xff"), 0o600); err != nil {
		d.t.Fatal(err)
	}
	d.ok(dir, "kv", "key", "put", "v1", "dir/key", "--path", file, "--metadata", `{"a":"é"}`, "--ttl", "600", "--binding", binding)
	d.ok(dir, "kv", "key", "put", "v1", "dir/other", "text")
	if got := d.ok(dir, "kv", "key", "get", "v1", "dir/key"); got != "bytes \x00\xff" {
		d.t.Errorf("got %q", got)
	}
	var keys []api.Key
	if err := json.Unmarshal([]byte(d.ok(dir, "kv", "key", "list", "v1", "--prefix", "dir/", "-o", "json")), &keys); err != nil ||
		len(keys) != 2 || keys[0].Name != "dir/key" || string(keys[0].Metadata) == "" || keys[0].Expiration == 0 {
		d.t.Errorf("%+v %v", keys, err)
	}
	d.ok(dir, "kv", "key", "delete", "v1", "dir/key")
	if _, errs, code := d.run(dir, "kv", "key", "get", "v1", "dir/key"); code == 0 || !strings.Contains(errs, "there is no such key") {
		d.t.Errorf("a deleted key: %d %s", code, errs)
	}
}

// dataAtRest asks for the data of versions that do not serve.
func (d *daemon) dataAtRest(v api.Version) {
	d.t.Helper()
	c := d.client()
	if _, err := c.Bindings(d.t.Context(), v.ProjectID, "missing"); client.CodeOf(err) != "version_not_found" {
		d.t.Error(err)
	}
	r := d.ask(http.MethodGet, "/v1/projects/"+v.ProjectID+"/versions/v1/kv", "", nil)
	d.refused(r, 401, "unauthorized")
	if _, err := c.Archive(d.t.Context(), v.ProjectID, "v2"); err != nil {
		d.t.Fatal(err)
	}
	if _, err := c.Databases(d.t.Context(), v.ProjectID, "v2"); client.CodeOf(err) != "version_archived" || !strings.Contains(err.Error(), "wake") {
		d.t.Error(err)
	}
	if _, err := c.Wake(d.t.Context(), v.ProjectID, "v2"); err != nil {
		d.t.Fatal(err)
	}
	if list, err := c.Databases(d.t.Context(), v.ProjectID, "v2"); err != nil || len(list) != 1 {
		d.t.Errorf("after the wake: %+v %v", list, err)
	}
}
