//go:build e2e

package e2e

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/svcctl/svcctl/internal/data/sqlite"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// counted checks how many requests the object has had, and returns its id.
func (d *daemon) counted(url string, n int) (id string) {
	d.t.Helper()
	a := d.get(url)
	id, count, _ := strings.Cut(a.Body, " ")
	if count != fmt.Sprint(n) {
		d.t.Errorf("%s answers %d %q, want the count %d", url, a.Status, a.Body, n)
	}
	return id
}

func (d *daemon) version(project, id string) api.Version {
	d.t.Helper()
	v, err := d.client().Version(d.t.Context(), project, id)
	if err != nil {
		d.t.Fatal(err)
	}
	return v
}

// withoutNamespace starts the server with a project that has no namespace, as those of before have none.
func (d *daemon) withoutNamespace(project string) {
	d.t.Helper()
	if !d.start() {
		d.t.Fatal(d.log.String())
	}
	d.project(project)
	d.stop()
	db, err := sqlite.Open(d.t.Context(), filepath.Join(d.dataDir(), "registry.db"), sqlite.Options{})
	if err != nil {
		d.t.Fatal(err)
	}
	err = db.InTx(d.t.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(d.t.Context(), `UPDATE projects SET object_namespace = '' WHERE id = ?`, project)
		return err
	})
	if err != nil {
		d.t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		d.t.Fatal(err)
	}
	if !d.start() {
		d.t.Fatal(d.log.String())
	}
}

// deployRooms deploys the workers old, one and two, which are equal, and front, which is bound to the
// objects of one. It returns the directory with that of each.
func (d *daemon) deployRooms() (dirs string) {
	d.t.Helper()
	config := func(name, binding, more string) string {
		return fmt.Sprintf(`{ "name": %q, "main": "index.js", "compatibility_date": "2026-11-01",
			"durable_objects": { "bindings": [{ "name": "ROOMS", "class_name": "Room"%s }] }%s }`, name, binding, more)
	}
	files := map[string]string{"front/wrangler.jsonc": config("front", `, "script_name": "one"`, ""), "front/index.js": asksRoom}
	args := []string{"deploy", "--version", "v1", "--wait", "-c", "front/wrangler.jsonc"}
	for _, name := range []string{"old", "one", "two"} {
		files[name+"/wrangler.jsonc"] = config(name, "", `, "migrations": [{ "tag": "v1", "new_sqlite_classes": ["Room"] }]`)
		files[name+"/index.js"] = countingRoom + asksRoom
		args = append(args, "-c", name+"/wrangler.jsonc")
	}
	dirs = svctest.Files(d.t, files)
	if _, notes, code := d.run(dirs, args...); code != 0 {
		d.t.Fatalf("exit %d, %s", code, notes)
	}
	return dirs
}
