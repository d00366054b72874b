package svc

import "time"

// DataExport says what of a version to export.
type DataExport struct {
	Ref
	// SinceCut selects what the version wrote since its data and that of Against began to
	// differ. Otherwise everything is exported.
	SinceCut bool
	Against  string // another version; "" for production
}

// ExportKind is what a record of an export has.
type ExportKind string

// The kinds, in the order in which an export has them: what is deleted in a database comes
// before what is written.
const (
	ExportBegin   ExportKind = "start"   // once, first
	ExportTable   ExportKind = "table"   // a table of D1 that did not exist at the cut, before its first row
	ExportRow     ExportKind = "row"     // of a table of D1
	ExportKey     ExportKind = "key"     // of a KV namespace
	ExportObject  ExportKind = "object"  // of an R2 bucket, without its body
	ExportBody    ExportKind = "body"    // a part of the body of the object before it
	ExportMessage ExportKind = "message" // of a queue
	ExportEnd     ExportKind = "end"     // once, last: the export is complete
)

// ExportOp is what happened to a record.
type ExportOp string

// The operations.
const (
	ExportInsert ExportOp = "insert"
	ExportUpdate ExportOp = "update"
	ExportDelete ExportOp = "delete"
)

// ExportRecord is one record of an export. Values are those of JSON, with blobs as
// {"$base64":…} and integers beyond 2^53 as strings.
type ExportRecord struct {
	Kind     ExportKind
	Resource string // the database, namespace, bucket or queue
	Op       ExportOp

	Table  string         // of a table or a row
	Row    map[string]any // the columns that identify a row
	Key    string         // of a key or an object; the id of a message
	Values map[string]any // nil for what is deleted
	Was    map[string]any // of a diff: the values in the first version; nil for what it lacks
	SQL    string         // of a table or a row: the statement that repeats the change

	Offset int64 // of Body in the body of the object
	Body   []byte

	Start *ExportStart // of the first record
	Wrote *Unmerged    // of the last record

	Of     ExportKind // of a count: what is counted
	Counts *Written   // of a count
}

// ExportStart says what an export has.
type ExportStart struct {
	Version string
	Against string      // "" for an export of everything
	Common  string      // as in Unmerged
	At      time.Time   // as in Unmerged
	Reason  NoCommonCut // why everything is exported though a cut was asked for; "" with a cut
}
