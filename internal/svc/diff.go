package svc

// DataDiff says what of two versions to compare: their data of this moment.
type DataDiff struct {
	Ref             // the first version
	With     string // the second version, of the same project; "" compares what the first one inherited with what it has
	Rows     bool   // pass the rows, keys, objects and messages, and not only their counts
	Database string // of D1, the only one to compare; "" for all data
	Table    string // of D1, the only one to compare; "" for all tables
	Full     bool   // read everything, however much it is
}

// The kinds of records that only a diff has. Insert means that only the second version has it,
// delete that only the first one has it.
const (
	DiffSchema  ExportKind = "schema"         // a table, index, trigger or view of D1
	DiffCount   ExportKind = "count"          // how many records of one kind differ in one resource
	DiffDurable ExportKind = "durable_object" // one whose storage differs
)
