package push

import (
	"fmt"
	"os"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/project"
)

// bindings are the resources of a project file as a manifest declares them.
func bindings(f *project.File) []bundle.Binding {
	var list []bundle.Binding
	for _, kv := range f.KV {
		list = append(list, bundle.Binding{Name: kv.Binding, Kind: "kv", Resource: kv.Resource()})
	}
	for _, d := range f.Databases {
		list = append(list, bundle.Binding{Name: d.Binding, Kind: "database", Resource: d.Resource()})
	}
	if f.VersionMetadata != "" {
		list = append(list, bundle.Binding{Name: f.VersionMetadata, Kind: "version_metadata"})
	}
	return list
}

// migrations adds the SQL files of every database. Two bindings of one database
// would apply the same files twice under one table of names, so the second of
// equal ones is left out.
func (r *Result) migrations(f *project.File, m *bundle.Manifest, tree bundle.Tree) error {
	type source struct{ resource, dir, pattern, table string }
	seen := map[source]bool{}
	for _, d := range f.Databases {
		from := source{d.Resource(), d.MigrationsDir, d.MigrationsPattern, d.MigrationsTable}
		if seen[from] {
			continue
		}
		seen[from] = true
		list, notices, err := d.Migrations()
		if err != nil {
			return err
		}
		r.Notices = append(r.Notices, notices...)
		if len(list) == 0 {
			continue
		}
		r.Watch = append(r.Watch, d.MigrationsDir)
		entry := bundle.Migrations{Binding: d.Binding, Table: d.MigrationsTable}
		for _, file := range list {
			path := bundle.MigrationPath(d.Binding, file.Name)
			if tree[path], err = os.ReadFile(file.Path); err != nil {
				return fmt.Errorf("reading a migration: %w", err)
			}
			entry.Files = append(entry.Files, bundle.File{Path: path})
		}
		m.Migrations = append(m.Migrations, entry)
	}
	return nil
}
