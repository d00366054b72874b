//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPreparedSurvivesThePower: a version is prepared once, so the result is in the
// object store when the version is ready: local files are not trusted after a power
// failure, and no later start migrates or scrubs the data again.
func TestPreparedSurvivesThePower(t *testing.T) {
	t.Parallel()
	const conf = `{ "name": "power", "main": "index.js", "compatibility_date": "2026-11-01",
		"d1_databases": [{ "binding": "DB", "database_name": "main", "database_id": "x" }] }`
	files := map[string]string{
		"index.js": `export default { async fetch(_, env) {
			const names = await env.DB.prepare("SELECT name FROM sqlite_schema WHERE name IN ('a', 'b') ORDER BY name").raw();
			return new Response(names.join()) } }`,
		"migrations/0001_a.sql": "CREATE TABLE a (x)",
	}
	d := newDaemon(t)
	window := "SVC_SYNC_WINDOW=1m" // the test ends before the window does
	if !d.start(window) {
		t.Fatal(d.log.String())
	}
	d.deploy(worker(t, conf, files), "--version", "v1")
	files["migrations/0002_b.sql"] = "CREATE TABLE b (x)"
	v2 := d.deploy(worker(t, conf, files), "--version", "v2", "--parent", "v1")
	d.kill()
	d.noProcessesLeft()
	marks, err := filepath.Glob(filepath.Join(d.dataDir(), "versions", "*", "*", "boot"))
	if err != nil || len(marks) != 2 {
		t.Fatal(marks, err)
	}
	for _, mark := range marks {
		if err := os.WriteFile(mark, []byte("of another run"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if !d.start(window) {
		t.Fatal(d.log.String())
	}
	if a := d.served(v2.PreviewURL); a.Body != "a,b" {
		t.Errorf("%d %q: what was prepared is lost", a.Status, a.Body)
	}
}
