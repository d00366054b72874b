package cli

import (
	"fmt"
	"path/filepath"

	"github.com/svcctl/svcctl/internal/client/build"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
)

// schemaFiles are where projects keep the tables that their migrations build on.
//
//nolint:gochecknoglobals // a constant table
var schemaFiles = []string{
	"schema.sql", "schemas/schema.sql", "sql/schema.sql", "db/schema.sql", "database/schema.sql", "src/schema.sql", "src/db/schema.sql",
	"seed.sql", "seeds/*.sql", "sql/seed.sql", "db/seed.sql", "db/seeds/*.sql", "init.sql", "sql/init.sql", "db/init.sql",
}

// schemaHint says how tables of a file beside the migrations get into the database of
// a version whose migration misses one; "" if the project has no such file.
func schemaHint(built *build.Result, v api.Version) string {
	if v.ErrorCode != svc.CodeMigrationTableMissing {
		return ""
	}
	name := schemaFile(built.Config.Root)
	if name == "" {
		return ""
	}
	binding := "BINDING"
	if len(built.Manifest.Migrations) == 1 {
		binding = built.Manifest.Migrations[0].Binding
	}
	return fmt.Sprintf(`%s may create the missing table. A new database imports seeds before its migrations:
  mkdir -p seed && cp %[1]s seed/%s.sql
or run it on a version that serves, and branch that one:
  svcctl d1 execute %s/VERSION --file %[1]s --write
  svcctl deploy --parent VERSION`, name, binding, v.ProjectID)
}

// schemaFile is the first of the schema files that the project has, relative to root.
func schemaFile(root string) string {
	for _, pattern := range schemaFiles {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 {
			continue
		}
		if rel, err := filepath.Rel(root, found[0]); err == nil {
			return filepath.ToSlash(rel)
		}
	}
	return ""
}
