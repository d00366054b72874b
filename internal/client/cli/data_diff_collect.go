package cli

import (
	"iter"

	"github.com/svcctl/svcctl/pkg/api"
)

// dataDifference is what differs between two states of data.
type dataDifference struct {
	ProjectID       string                 `json:"project_id"`
	VersionID       string                 `json:"version_id"`
	OtherVersionID  string                 `json:"other_version_id,omitempty"`  // absent: compared with what the version inherited
	CommonVersionID string                 `json:"common_version_id,omitempty"` // absent: they inherited nothing from each other
	ForkedAt        *api.Time              `json:"forked_at,omitempty"`
	Reason          api.UnmergedReason     `json:"reason,omitempty"`
	Schema          []dataSchema           `json:"schema"`
	Counts          []dataCount            `json:"counts"`
	Records         []api.DataExportRecord `json:"records,omitempty"` // with --rows
}

// dataSchema is a table, an index, a trigger or a view that differs.
type dataSchema struct {
	Database string                 `json:"database"`
	Op       api.DataExportRecordOp `json:"op"`
	Type     string                 `json:"type"`
	Name     string                 `json:"name"`
	Table    string                 `json:"table"`
	Was      string                 `json:"was,omitempty"` // its statement
	Is       string                 `json:"is,omitempty"`
	Added    []string               `json:"columns_added,omitempty"`
	Removed  []string               `json:"columns_removed,omitempty"`
	SQL      string                 `json:"sql,omitempty"`
}

// dataCount is how many records of one kind differ in one resource.
type dataCount struct {
	Kind     string `json:"kind"`
	Resource string `json:"resource"`
	Table    string `json:"table,omitempty"`
	Inserted int64  `json:"inserted"`
	Updated  int64  `json:"updated"`
	Deleted  int64  `json:"deleted"`
}

// collect reads all records.
func (d *dataDifference) collect(records iter.Seq2[api.DataExportRecord, error]) error {
	for r, err := range records {
		if err != nil {
			return err
		}
		d.add(r)
	}
	return nil
}

func (d *dataDifference) add(r api.DataExportRecord) {
	switch r.Kind { //nolint:exhaustive // the others are records
	case api.DataExportRecordKindStart:
		d.CommonVersionID, d.ForkedAt, d.Reason = r.CommonVersionID, r.ForkedAt, r.Reason
	case api.DataExportRecordKindEnd:
	case api.DataExportRecordKindSchema:
		d.Schema = append(d.Schema, schemaOf(r))
	case api.DataExportRecordKindCount:
		if c := r.Counts; c != nil {
			d.Counts = append(d.Counts, dataCount{r.Of, r.Resource, r.Table, c.Inserted, c.Updated, c.Deleted})
		}
	default:
		d.Records = append(d.Records, r)
	}
}

// schemaOf is a record of the schema.
func schemaOf(r api.DataExportRecord) dataSchema {
	s := dataSchema{Database: r.Resource, Op: r.Op, Table: r.Table, SQL: r.SQL}
	for _, side := range []map[string]any{r.Was, r.Values} {
		if side != nil {
			s.Type, _ = side["type"].(string)
			s.Name, _ = side["name"].(string)
		}
	}
	s.Was, _ = r.Was["sql"].(string)
	s.Is, _ = r.Values["sql"].(string)
	s.Added, s.Removed = texts(r.Values["columns_added"]), texts(r.Values["columns_removed"])
	return s
}

// texts are the texts of a list in JSON.
func texts(v any) (list []string) {
	all, _ := v.([]any)
	for _, one := range all {
		if s, ok := one.(string); ok {
			list = append(list, s)
		}
	}
	return list
}
