package project_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// seedable is one binding of each kind.
func seedable() []bundle.Binding {
	return []bundle.Binding{
		{Name: "DB", Kind: "database"},
		{Name: "LOG", Kind: "database"},
		{Name: "CACHE", Kind: "kv"},
		{Name: "FILES", Kind: "object_store"},
		{Name: "VERSION", Kind: "version_metadata"},
	}
}

func TestSeeds(t *testing.T) {
	t.Parallel()
	dir := svctest.Files(t, map[string]string{
		"seed/DB/10_c.sql": "", "seed/DB/9_b.sql": "", "seed/DB/0001_a.sql": "", "seed/DB/.old.sql": "", "seed/DB/.git/x": "",
		"seed/LOG.sqlite": "", "seed/LOG.sqlite-wal": "", "seed/LOG.sqlite-shm": "\x00", "seed/CACHE.jsonl": "",
		"seed/.DS_Store": "", "seed/FILES/a/b.png": "", "seed/FILES/.well-known/x": "", "seed/FILES/a b": "",
	})
	list, err := (&project.File{Root: dir}).Seeds(seedable())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, s := range list {
		for _, f := range s.Files {
			got[s.Binding] = append(got[s.Binding], f.Name)
			if want := filepath.Join(dir, "seed", filepath.FromSlash(f.Name)); f.Path != want {
				t.Errorf("%s is at %s", f.Name, f.Path)
			}
		}
	}
	if diff := cmp.Diff(map[string][]string{
		"DB":  {"DB/0001_a.sql", "DB/9_b.sql", "DB/10_c.sql"},
		"LOG": {"LOG.sqlite"}, "CACHE": {"CACHE.jsonl"},
		"FILES": {"FILES/.well-known/x", "FILES/a/b.png", "FILES/a b"},
	}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if list, err := (&project.File{Root: t.TempDir()}).Seeds(seedable()); err != nil || list != nil {
		t.Errorf("without the directory: %v, %v", list, err)
	}
}

func TestSeedsRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files string // names, apart by spaces; "*" after one gives it content
		want  string
	}{
		"unknown":        {"ORDERS.sql", `seed/ORDERS.sql: no binding is called "ORDERS"; those that take seeds are DB (database), LOG (database), CACHE (kv), FILES (object_store)`},
		"other case":     {"db.sql", `no binding is called "db"`},
		"unknown files":  {"UPLOADS/a.png", `seed/UPLOADS: no binding is called "UPLOADS"`},
		"no data":        {"VERSION.sql", "a binding of kind version_metadata takes no seeds"},
		"wrong kind":     {"CACHE.sql", "the seed of CACHE, a binding of kind kv, is CACHE.jsonl"},
		"wrong for kv":   {"CACHE/a", "the seed of CACHE, a binding of kind kv, is CACHE.jsonl"},
		"wrong file":     {"DB.csv", "the seed of DB, a binding of kind database, is DB.sql, DB.sqlite, DB.db, DB/ with .sql files"},
		"two extensions": {"DB.dump.sql", "is DB.sql, DB.sqlite"},
		"no extension":   {"DB", "is DB.sql, DB.sqlite"},
		"objects":        {"FILES.zip", "is FILES/ with a file for each object"},
		"below":          {"DB/a.sqlite", "seed/DB/a.sqlite: the seed of DB"},
		"directory":      {"DB/a.sql/x DB/sub/y.sql", "the directory seed has 2 problems"},
		"twice":          {"DB.sql DB.sqlite", "seed/DB.sqlite: DB has seeds already: seed/DB.sql"},
		"twice below":    {"DB/a.sql DB.sqlite", "seed/DB.sqlite: DB has seeds already: seed/DB/a.sql"},
		"log":            {"DB.sqlite DB.sqlite-wal*", `seed/DB.sqlite-wal: holds changes that are not in DB.sqlite yet: close what has the database open, or run sqlite3 seed/DB.sqlite "pragma journal_mode = delete"`},
		"several":        {"A.sql B.sql", "the directory seed has 2 problems"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{}
			for f := range strings.FieldsSeq(test.files) {
				bare, full := strings.CutSuffix(f, "*")
				files["seed/"+bare] = strings.Repeat("x", map[bool]int{true: 1}[full])
			}
			_, err := (&project.File{Root: svctest.Files(t, files)}).Seeds(seedable())
			if svc.CodeOf(err) != "seed_invalid" || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestNothingToSeed(t *testing.T) {
	t.Parallel()
	f := &project.File{Root: svctest.Files(t, map[string]string{"seed/DB.sql": ""})}
	if _, err := f.Seeds(nil); err == nil || !strings.Contains(err.Error(), "declares none that takes seeds") {
		t.Errorf("got %v", err)
	}
}

// A build tool's output is not where people keep seeds.
func TestRoot(t *testing.T) {
	t.Parallel()
	const file = `{"name": "w", "main": "w.js", "compatibility_date": "2026-01-01"}`
	dir := svctest.Files(t, map[string]string{
		"wrangler.json": file, ".wrangler/deploy/config.json": `{"configPath": "../../dist/wrangler.json"}`, "dist/wrangler.json": file, "src/x": "",
		"sub/wrangler.json": file,
	})
	for _, test := range []struct{ from, config, want string }{
		{"src", "", "."}, {"sub", "", "sub"}, {".", "sub/wrangler.json", "sub"},
	} {
		f, _, err := project.Load(filepath.Join(dir, test.from), project.Options{Config: test.config})
		if err != nil || f.Root != filepath.Join(dir, test.want) {
			t.Errorf("%+v: %+v, %v", test, f, err)
		}
	}
}
