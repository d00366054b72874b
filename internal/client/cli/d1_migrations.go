package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/client/project"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// d1Migrations say which database of which wrangler config a command is about.
type d1Migrations struct{ project, config, env, binding string }

func newD1Migrations(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "migrations", Short: "List, create and apply the migrations of a worker directory", RunE: serveHelp}
	cmd.AddCommand(newMigrationsList(k), newMigrationsCreate(k), newMigrationsApply(k))
	return cmd
}

func (o *d1Migrations) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.config, "config", "c", "", "wrangler config file (default: the nearest one)")
	f.StringVarP(&o.env, "env", "e", "", "environment of the wrangler config")
	f.StringVar(&o.binding, "binding", "", "binding of the database (default: the only one)")
}

// database finds the database in the wrangler config.
func (o d1Migrations) database(k *kit.Kit) (project.Database, *project.File, error) {
	config := o.config
	if config != "" {
		config = k.Path(config)
	}
	f, _, err := project.Load(k.Path(""), project.Options{Config: config, Env: o.env, Environ: k.Environ, Engine: k.Engine})
	if err != nil {
		return project.Database{}, nil, err
	}
	var names []string
	for _, d := range f.Databases {
		if d.Binding == o.binding || o.binding == "" && len(f.Databases) == 1 {
			return d, f, nil
		}
		names = append(names, d.Binding)
	}
	if len(names) == 0 {
		return project.Database{}, nil, kit.Usagef("the wrangler config has no d1_databases")
	}
	return project.Database{}, nil, kit.Usagef("name a database with --binding: the wrangler config has %s", strings.Join(names, ", "))
}

// migration is one migration and whether a version has it.
type migration struct {
	Name      string `json:"name"`
	Applied   bool   `json:"applied"`
	AppliedAt string `json:"applied_at,omitempty"` // in UTC, as the database has it
	path      string
}

// migrated is a database of a version with the migrations of the worker directory.
type migrated struct {
	c              *client.Client
	project        string
	version        string
	binding, table string // table is quoted
	all            []migration
}

// state reads the migrations of the worker directory, and which of them the version has.
func (o d1Migrations) state(ctx context.Context, k *kit.Kit, arg string) (m migrated, err error) {
	d, f, err := o.database(k)
	if err != nil {
		return m, err
	}
	m.binding, m.table = d.Binding, quoteSQL(d.MigrationsTable)
	named := o.project
	if named == "" && !strings.Contains(arg, "/") {
		named = f.Name
	}
	if m.project, m.version, err = versionOf(k, arg, named); err != nil {
		return m, err
	}
	files, _, err := d.Migrations()
	if err != nil {
		return m, err
	}
	if m.c, err = k.Client(); err != nil {
		return m, err
	}
	applied, err := m.applied(ctx)
	for _, file := range files {
		when, done := applied[file.Name]
		m.all = append(m.all, migration{Name: file.Name, Applied: done, AppliedAt: when, path: file.Path})
	}
	return m, err
}

// applied reads the table of applied migrations, which may be missing: when each was
// applied, by its name.
func (m migrated) applied(ctx context.Context) (map[string]string, error) {
	tables, err := m.c.Tables(ctx, m.project, m.version, m.binding)
	if err != nil {
		return nil, err
	}
	applied, found := map[string]string{}, false
	for _, t := range tables {
		found = found || quoteSQL(t.Name) == m.table
	}
	if !found {
		return applied, nil
	}
	results, err := m.c.Query(ctx, m.project, m.version, api.DatabaseQuery{Binding: m.binding, SQL: "SELECT name, applied_at FROM " + m.table})
	if err != nil {
		return nil, err
	}
	for _, r := range results {
		for _, row := range r.Results {
			applied[cell(row["name"])] = cell(row["applied_at"])
		}
	}
	return applied, nil
}

func quoteSQL(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func newMigrationsList(k *kit.Kit) *cobra.Command {
	var o d1Migrations
	cmd := &cobra.Command{
		Use: "list [PROJECT/]VERSION", Aliases: []string{"ls"}, Short: "List the migrations and whether a version has them", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			state, err := o.state(cmd.Context(), k, args[0])
			if err != nil {
				return err
			}
			return kit.PrintList(k, state.all, []string{"MIGRATION", "APPLIED"}, func(m migration) []string {
				return []string{m.Name, cmp.Or(m.AppliedAt, "-")}
			})
		},
	}
	o.flags(cmd)
	projectFlag(cmd, &o.project)
	return cmd
}

func newMigrationsCreate(k *kit.Kit) *cobra.Command {
	var o d1Migrations
	cmd := &cobra.Command{
		Use: "create MESSAGE", Short: "Create an empty migration with the next number", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return createMigration(k, o, args[0]) },
	}
	o.flags(cmd)
	return cmd
}

var number = regexp.MustCompile(`^\d+`)

func createMigration(k *kit.Kit, o d1Migrations, message string) error {
	d, _, err := o.database(k)
	if err != nil {
		return err
	}
	files, _, err := d.Migrations()
	if err != nil {
		return err
	}
	last := 0
	for _, f := range files {
		var n int
		if _, err := fmt.Sscan(strings.TrimLeft(number.FindString(filepath.Base(f.Name)), "0"), &n); err == nil {
			last = max(last, n)
		}
	}
	words := strings.FieldsFunc(message, func(r rune) bool { return strings.ContainsRune(" /\\:", r) })
	name := fmt.Sprintf("%04d_%s.sql", last+1, strings.Join(words, "_"))
	if err := os.MkdirAll(d.MigrationsDir, 0o755); err != nil { //nolint:gosec // as the sources beside it
		return fmt.Errorf("creating the migration: %w", err)
	}
	path := filepath.Join(d.MigrationsDir, name)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644) //nolint:gosec // as the sources beside it
	if err != nil {
		return fmt.Errorf("creating the migration: %w", err)
	}
	_, err = fmt.Fprintf(file, "-- Migration %04d: %s\n", last+1, message)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("creating the migration: %w", err)
	}
	return k.Print(map[string]string{"path": path}, func() { k.Printf("%s", kit.Clean(path)) })
}

func newMigrationsApply(k *kit.Kit) *cobra.Command {
	var o d1Migrations
	var dry bool
	cmd := &cobra.Command{
		Use: "apply [PROJECT/]VERSION", Short: "Apply the missing migrations to a version that serves", Args: cobra.ExactArgs(1),
		Long: "Applies the migrations of the worker directory that a version does not have, each in one transaction; the first that fails is\n" +
			"the last. A deploy applies migrations by itself: this is for a version that exists already.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return applyMigrations(cmd.Context(), k, o, args[0], dry)
		},
	}
	o.flags(cmd)
	projectFlag(cmd, &o.project)
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only list what would be applied")
	addYes(k, cmd)
	return cmd
}

func applyMigrations(ctx context.Context, k *kit.Kit, o d1Migrations, arg string, dry bool) error {
	state, err := o.state(ctx, k, arg)
	if err != nil {
		return err
	}
	missing := slices.DeleteFunc(state.all, func(m migration) bool { return m.Applied })
	if !dry && len(missing) > 0 {
		what := fmt.Sprintf("applies %s to its database %s", count(int64(len(missing)), "migration"), state.binding)
		if err := askProduction(ctx, k, state.c, bindingOf{Project: state.project, Version: state.version}, what); err != nil {
			return err
		}
	}
	done := []migration{}
	for _, m := range missing {
		if !dry {
			if err := state.apply(ctx, m); err != nil {
				return err
			}
			m.Applied = true
			k.Notef("applied %s", kit.Clean(m.Name))
		}
		done = append(done, m)
	}
	return k.Print(done, func() {
		switch {
		case len(done) == 0:
			k.Printf("no migrations to apply")
		case dry:
			for _, m := range done {
				k.Printf("would apply %s", kit.Clean(m.Name))
			}
		}
	})
}

// apply runs a file and records it, in one transaction.
func (m migrated) apply(ctx context.Context, one migration) error {
	text, err := os.ReadFile(one.path)
	if err != nil {
		return fmt.Errorf("reading a migration: %w", err)
	}
	create := "CREATE TABLE IF NOT EXISTS " + m.table +
		"(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)"
	if err := m.write(ctx, create); err != nil {
		return err
	}
	script := strings.TrimRight(string(text), " \t\r\n;") + "\n;\nINSERT INTO " + m.table + " (name) VALUES (?1);"
	if err := m.write(ctx, script, one.Name); err != nil {
		return fmt.Errorf("migration %s was not applied: %w", one.Name, err)
	}
	return nil
}

func (m migrated) write(ctx context.Context, sql string, params ...any) error {
	readOnly := false
	_, err := m.c.Query(ctx, m.project, m.version, api.DatabaseQuery{Binding: m.binding, ReadOnly: &readOnly, SQL: sql, Params: params})
	return err
}
