package binding

import "github.com/svcctl/svcctl/internal/svc"

// Table is a table in the data of a kind whose rows are records that users know: what a comparison of
// versions counts, and an export writes.
type Table struct {
	Database string         // volume.SharedDatabase, or an own database of the version
	Name     string         // of the table
	Record   svc.ExportKind // what a row is in an export; "" if an export leaves the rows out
	// Owners is the table with the columns "id" and "name" of what the rows belong to, and Column the
	// column of Name that refers to it. Both are "" outside of the shared database.
	Owners, Column string
	Parts          string // table with the parts of large rows; "" for none
}

// Recorder is a Kind that has such tables.
type Recorder interface{ Records() []Table }

// Records returns the tables of a set of kinds, in their order.
func Records(kinds []Kind) (tables []Table) {
	for _, k := range kinds {
		if r, ok := k.(Recorder); ok {
			tables = append(tables, r.Records()...)
		}
	}
	return tables
}
