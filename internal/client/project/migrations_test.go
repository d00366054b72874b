package project_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

func TestMigrations(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for _, name := range []string{
		"0001_init.sql", "10_ten.sql", "9_nine.sql", "2_b.sql", "2_a.sql", "seed.sql", "alpha.sql", "README.md", ".hidden.sql",
		"20240101_nested/migration.sql", "3_nested/migration.sql", "3_nested/snapshot.json", "deep/er/4_x.sql",
	} {
		files[name] = ""
	}
	dir := svctest.Files(t, files)
	for _, test := range []struct {
		pattern string
		want    []string
	}{
		{"*.sql", []string{"0001_init.sql", "2_a.sql", "2_b.sql", "9_nine.sql", "10_ten.sql", "alpha.sql", "seed.sql"}},
		{"*/migration.sql", []string{"3_nested/migration.sql", "20240101_nested/migration.sql"}},
		{"**/*.sql", []string{
			"0001_init.sql", "2_a.sql", "2_b.sql", "3_nested/migration.sql", "9_nine.sql", "10_ten.sql",
			"20240101_nested/migration.sql", "alpha.sql", "deep/er/4_x.sql", "seed.sql",
		}},
		{"{2,9}_*.sql", []string{"2_a.sql", "2_b.sql", "9_nine.sql"}},
		{"?_?.sql", []string{"2_a.sql", "2_b.sql"}},
		{"*.txt", nil},
	} {
		list, notices, err := project.Database{Binding: "DB", MigrationsDir: dir, MigrationsPattern: test.pattern}.Migrations()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, m := range list {
			names = append(names, m.Name)
			if m.Path != filepath.Join(dir, m.Name) {
				t.Errorf("%s is at %s", m.Name, m.Path)
			}
		}
		if diff := cmp.Diff(test.want, names); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.pattern, diff)
		}
		if (len(test.want) == 0) != (len(notices) == 1) {
			t.Errorf("%s: notices %v", test.pattern, notices)
		}
	}
}

func TestMigrationsDirectoryAbsent(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		entry   string
		notices int
	}{
		{`{"binding": "DB"}`, 0},
		{`{"binding": "DB", "migrations_dir": "sql"}`, 1},
	} {
		dir := svctest.Files(t, map[string]string{"wrangler.json": `{"main": "w.js", "compatibility_date": "2026-01-01", "d1_databases": [` + test.entry + `]}`})
		f, _, err := project.Load(dir, project.Options{})
		if err != nil {
			t.Fatal(err)
		}
		list, notices, err := f.Databases[0].Migrations()
		if err != nil || len(list) != 0 || len(notices) != test.notices {
			t.Errorf("%s: %v, %v, %v", test.entry, list, notices, err)
		}
	}
}

// TestLinkedMigrations: a link to a file is a migration, as with wrangler, and a link to a directory is named:
// a migration that is left out in silence is missing in production.
func TestLinkedMigrations(t *testing.T) {
	t.Parallel()
	dir := svctest.Files(t, map[string]string{"migrations/0001_a.sql": "x", "shared/0002_b.sql": "x", "shared/more/0003_c.sql": "x"})
	for name, target := range map[string]string{"0002_b.sql": "../shared/0002_b.sql", "more": "../shared/more", "0004_gone.sql": "nowhere"} {
		if err := os.Symlink(target, filepath.Join(dir, "migrations", name)); err != nil {
			t.Fatal(err)
		}
	}
	d := project.Database{Binding: "DB", MigrationsDir: filepath.Join(dir, "migrations"), MigrationsPattern: "*.sql"}
	list, notices, err := d.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range list {
		names = append(names, m.Name)
	}
	if want := []string{"0001_a.sql", "0002_b.sql", "0004_gone.sql"}; !slices.Equal(names, want) {
		t.Errorf("migrations %v, want %v", names, want)
	}
	if len(notices) != 1 || !strings.Contains(notices[0].Text, "links to directories: more") {
		t.Errorf("notices %v", notices)
	}
}
