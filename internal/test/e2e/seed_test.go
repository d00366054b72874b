//go:build e2e

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

const seededConfig = `{
  "name": "seeded", "main": "index.js", "compatibility_date": "2026-11-01",
  "d1_databases": [{ "binding": "DB" }, { "binding": "LOG", "migrations_dir": "log" }], "kv_namespaces": [{ "binding": "KV" }]
}`

// seededWorker answers with the contents of its bindings.
const seededWorker = `export default { async fetch(request, env) {
  const count = async (db, table) => db.prepare("select count(*) n from " + table).first("n").catch(() => -1);
  const found = await env.LOG.prepare("select rowid from words where words match 'needle'").first("rowid").catch(() => -1);
  return Response.json({
    guests: await count(env.DB, "guests"), starred: await count(env.DB, "guests where stars is not null"), log: await count(env.LOG, "log"),
    things: await count(env.DB, "things"), found, greeting: await env.KV.get("greeting"),
  });
} }`

// seededWith creates the directory of such a worker, with n guests. Its dump was made
// before the second migration.
func seededWith(t *testing.T, guests int) string {
	t.Helper()
	var dump strings.Builder
	dump.WriteString("PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE d1_migrations(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL);\n")
	dump.WriteString("INSERT INTO d1_migrations VALUES(1,'0001_guests.sql','2026-01-01 00:00:00');\nCREATE TABLE guests(name text, about text);\n")
	for i := range guests {
		fmt.Fprintf(&dump, "INSERT INTO guests VALUES('guest %d','some text that takes its room in a row');\n", i)
	}
	dump.WriteString("COMMIT;\n")
	return worker(t, seededConfig, map[string]string{
		"index.js": seededWorker, "seed/DB.sql": dump.String(),
		"seed/LOG.sqlite":            sqliteFile(t, "create table log(a); insert into log values (1),(2); create virtual table words using fts5(w); insert into words(rowid, w) values (7, 'hay and a needle')"),
		"seed/KV.jsonl":              `{"key":"greeting","value":"aGVsbG8=","base64":true}` + "\n",
		"migrations/0001_guests.sql": "create table guests(name text, about text);",
		"migrations/0002_stars.sql":  "alter table guests add column stars integer; update guests set stars = 3 where name = 'guest 0';",
	})
}

func sqliteFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.sqlite")
	c, err := raw.Open(path, raw.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Script(text), c.Close()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// holds is the answer of seededWorker.
type holds struct {
	Guests, Starred, Log, Things, Found int
	Greeting                            string
}

func (d *daemon) holds(v api.Version, want holds) {
	d.t.Helper()
	var got holds
	if a := d.get(v.PreviewURL); json.Unmarshal([]byte(a.Body), &got) != nil || got != want {
		d.t.Errorf("%s holds %s, want %+v", v.ID, a.Body, want)
	}
}

// TestSeed: a root version begins with the seeds of its bundle, a child with its
// parent's data, which has imported these files. More is imported while a version
// serves.
// spec: [C2.10] [C2.18]
func TestSeed(t *testing.T) {
	t.Parallel()
	d := started(t)
	dir := seededWith(t, 20)
	seeded := holds{Guests: 20, Starred: 1, Log: 2, Things: -1, Found: 7, Greeting: "hello"}
	one := d.deploy(dir, "--version", "v1")
	const detail = "seeded DB from seed/DB.sql, KV from seed/KV.jsonl, LOG from seed/LOG.sqlite; applied 1 migration: DB/0002_stars.sql"
	if got := one.Timeline[2].Detail; got != detail {
		t.Errorf("the timeline says %q", got)
	}
	d.holds(one, seeded)
	d.ok(dir, "d1", "execute", "v1", "--binding", "DB", "--write", "--command", "delete from guests where stars is null")

	// Another root has its own, a child has its parent's.
	d.holds(d.deploy(dir, "--version", "v2"), seeded)
	child := d.deploy(dir, "--version", "v3", "--parent", "v1")
	if got := child.Timeline[2].Detail; got != "no migrations to apply" {
		t.Errorf("the child's timeline says %q", got)
	}
	changed := seeded
	changed.Guests = 1
	d.holds(child, changed)

	// An imported row is visible immediately, and a failed import leaves no row.
	script, file := filepath.Join(d.home, "more.sql"), filepath.Join(d.home, "more.sqlite")
	for path, text := range map[string]string{
		script: "insert into guests(name) values ('late');\n",
		file:   sqliteFile(t, "create table things(a); with recursive c(x) as (select 1 union all select x+1 from c limit 20000) insert into things select x from c"),
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d.ok(dir, "d1", "import", "v3", script, "--binding", "DB")
	out := d.ok(dir, "d1", "import", "v3", file, "--binding", "DB", "-o", "json")
	var done api.DatabaseImport
	if err := json.Unmarshal([]byte(out), &done); err != nil || done.Tables != 1 || done.Rows != 20_000 || done.Seconds <= 0 {
		t.Errorf("%s %v", out, err)
	}
	changed.Guests, changed.Things = 2, 20_000
	d.holds(child, changed)
	if _, errs, code := d.run(dir, "d1", "import", "v3", file, "--binding", "DB"); code != 1 || !strings.Contains(errs, "table things already exists") {
		t.Errorf("again: %d %s", code, errs)
	}
	if err := os.WriteFile(script, []byte("insert into guests(name) values ('x');\ninsert into missing values (1);"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := d.run(dir, "d1", "import", "v3", script, "--binding", "DB"); code != 1 || !strings.Contains(errs, "line 2: no such table: missing") {
		t.Errorf("a bad script: %d %s", code, errs)
	}
	d.holds(child, changed)
	d.kill()
	d.noProcessesLeft()
	if !d.start() {
		t.Fatal("the daemon does not start again")
	}
	svctest.Succeeds(d.t, "the child to serve again", func() error {
		if a, err := d.try(t.Context(), "GET", child.PreviewURL, "", ""); err != nil || a.Status != 200 {
			return fmt.Errorf("%d %w", a.Status, err)
		}
		return nil
	})
	d.holds(child, changed)
}

// reseed puts these files into seed/ of a worker, in place of what is there.
func reseed(t *testing.T, dir string, texts map[string]string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(dir, "seed")); err != nil {
		t.Fatal(err)
	}
	for name, text := range texts {
		path := filepath.Join(dir, "seed", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSeedOfChild: a child imports the files that its parent's data has not seen,
// and its parent does not see them.
func TestSeedOfChild(t *testing.T) {
	t.Parallel()
	d := started(t)
	dir := seededWith(t, 20)
	parent := d.deploy(dir, "--version", "v1")
	had := holds{Guests: 20, Starred: 1, Log: 2, Things: -1, Found: 7, Greeting: "hello"}
	reseed(t, dir, map[string]string{
		"DB/0002_more.sql": "insert into guests(name, stars) values ('late', 5); create table things(a); insert into things values (1);",
		"LOG.db":           sqliteFile(t, "create table log(a); insert into log values (1),(2),(3)"),
		"KV.jsonl":         `{"key":"greeting","value":"changed"}` + "\n",
	})
	child := d.deploy(dir, "--version", "v2", "--parent", "v1")
	const detail = "seeded DB from seed/DB/0002_more.sql; LOG from seed/LOG.db (skipped: the data has log already); no migrations to apply"
	if got := child.Timeline[2].Detail; got != detail {
		t.Errorf("the timeline says %q", got)
	}
	has := had
	has.Guests, has.Starred, has.Things = 21, 2, 1
	d.holds(child, has)
	d.holds(parent, had)
	d.holds(d.deploy(dir, "--version", "v3", "--parent", "v2"), has)

	reseed(t, dir, map[string]string{"DB/0003_bad.sql": "create table things(a)"})
	_, errs, code := d.run(dir, "deploy", "--version", "v4", "--parent", "v2", "--wait")
	if code != 7 || !strings.Contains(errs, "seed_failed: seed/DB/0003_bad.sql: line 1: table things already exists") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// TestSeedOfChildOnce: TestSeedOnce for what a child imports.
func TestSeedOfChildOnce(t *testing.T) {
	t.Parallel()
	for _, failpoint := range []string{"deploy/preparing/started", "deploy/preparing/done"} {
		t.Run(filepath.Base(failpoint), func(t *testing.T) {
			t.Parallel()
			d := started(t)
			dir := seededWith(t, 20)
			d.deploy(dir, "--version", "v1")
			d.kill()
			d.noProcessesLeft()
			if !d.start("SVC_FAILPOINT=" + failpoint) {
				t.Fatal("the daemon does not start")
			}
			reseed(t, dir, map[string]string{"DB/2.sql": "insert into guests(name) values ('late')"})
			d.ok(dir, "deploy", "--version", "v2", "--parent", "v1")
			d.died()
			d.noProcessesLeft()
			if !d.start() {
				t.Fatal("the daemon does not start again")
			}
			v := d.settled("v2")
			if v.Status != api.VersionStatusReady {
				t.Fatalf("%s: %s", v.Status, v.Error)
			}
			d.holds(v, holds{Guests: 21, Starred: 1, Log: 2, Things: -1, Found: 7, Greeting: "hello"})
		})
	}
}

// TestSeedOnce: whenever the daemon is killed, the deploy continues after a restart and
// each seed is there once.
// spec: [C2.18]
func TestSeedOnce(t *testing.T) {
	t.Parallel()
	for name, failpoint := range map[string]string{
		"before": "deploy/preparing/started", "after": "deploy/preparing/done", "while it imports": "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			guests := 20
			if failpoint == "" {
				guests = 60_000
			}
			d := newDaemon(t)
			if !d.start("SVC_FAILPOINT=" + failpoint) {
				t.Fatal("the daemon does not start")
			}
			dir := seededWith(t, guests)
			d.ok(dir, "deploy", "--version", "v1")
			if failpoint == "" {
				d.preparing("v1")
				d.kill()
			} else {
				d.died()
			}
			d.noProcessesLeft()
			if !d.start() {
				t.Fatal("the daemon does not start again")
			}
			v := d.settled("v1")
			if v.Status != api.VersionStatusReady {
				t.Fatalf("%s: %s", v.Status, v.Error)
			}
			d.holds(v, holds{Guests: guests, Starred: 1, Log: 2, Things: -1, Found: 7, Greeting: "hello"})
		})
	}
}

// preparing waits until a version is in that step.
func (d *daemon) preparing(version string) {
	d.t.Helper()
	svctest.Succeeds(d.t, "the import to begin", func() error {
		v, err := d.client().Version(d.t.Context(), "seeded", version)
		if err != nil || v.Status != api.VersionStatusPreparing && v.Status != api.VersionStatusDeploying && v.Status != api.VersionStatusReady {
			return fmt.Errorf("%s %w", v.Status, err)
		}
		return nil
	})
}

// settled waits for the end of a deploy.
func (d *daemon) settled(version string) (v api.Version) {
	d.t.Helper()
	svctest.Succeeds(d.t, "the deploy to end", func() (err error) {
		v, err = d.client().Version(d.t.Context(), "seeded", version)
		if err == nil && v.Status != api.VersionStatusReady && v.Status != api.VersionStatusFailed {
			err = fmt.Errorf("it is %s", v.Status)
		}
		return err
	})
	return v
}

// TestSeedRefused: a seed that cannot be imported fails the version, with its
// place, and nothing serves.
// spec: [C4.12] [C7.15]
func TestSeedRefused(t *testing.T) {
	t.Parallel()
	d := started(t)
	dir := seededWith(t, 1)
	if err := os.WriteFile(filepath.Join(dir, "seed", "KV.jsonl"), []byte("{\"key\":\"a\",\"value\":\"b\"}\n{\"key\":\"b\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, errs, code := d.run(dir, "deploy", "--version", "v1", "--wait")
	if code != 7 || !strings.Contains(errs, `preparing: seed_failed: seed/KV.jsonl: line 2: the key "b" has no "value"`) {
		t.Errorf("exit %d: %s", code, errs)
	}
	if _, err := d.client().Databases(t.Context(), "seeded", "v1"); client.CodeOf(err) != "version_failed" {
		t.Error(err)
	}
}
