package cli

import (
	"bufio"
	"fmt"
	"iter"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/lib/text"
	"github.com/svcctl/svcctl/pkg/api"
)

// sqlScript writes statements that repeat a difference.
type sqlScript struct {
	*bufio.Writer

	d         *dataDifference
	database  string
	databases int
}

// script writes the statements of the records as they come.
func (d *dataDifference) script(k *kit.Kit, records iter.Seq2[api.DataExportRecord, error]) error {
	s := &sqlScript{Writer: bufio.NewWriter(k.Out), d: d}
	for r, err := range records {
		if err != nil {
			_, _ = s.WriteString("-- the difference is not complete\n")
			_ = s.Flush()
			return err
		}
		s.add(r)
	}
	if err := s.Flush(); err != nil {
		return err
	}
	if s.databases > 1 {
		k.Notef("the statements are of %d databases: --database NAME writes those of one", s.databases)
	}
	for _, c := range d.Counts {
		if c.Kind != string(api.DataExportRecordKindRow) {
			k.Notef("not in SQL: %s +%d ~%d -%d", c.what(), c.Inserted, c.Updated, c.Deleted)
		}
	}
	return nil
}

// add writes the statement of one record. Flush returns the error of a write.
func (s *sqlScript) add(r api.DataExportRecord) {
	if r.Kind == api.DataExportRecordKindCount || r.Kind == api.DataExportRecordKindStart {
		s.d.add(r)
	}
	if r.Kind != api.DataExportRecordKindSchema && r.Kind != api.DataExportRecordKindRow {
		return
	}
	if s.databases == 0 {
		_, _ = fmt.Fprintf(s, "-- %s\nPRAGMA defer_foreign_keys=TRUE;\n", text.Line(s.d.title()))
	}
	if s.databases == 0 || s.database != r.Resource {
		s.database = r.Resource
		s.databases++
		_, _ = fmt.Fprintf(s, "-- database %s\n", text.Line(r.Resource))
	}
	switch {
	case r.SQL != "":
		_, _ = s.WriteString(r.SQL + ";\n")
	case r.Kind == api.DataExportRecordKindSchema:
		_, _ = fmt.Fprintf(s, "-- %s differs in more than added columns: change it by hand first\n", text.Line(r.Key))
	case r.Op != api.DataExportRecordOpDelete: // deleted rows may be those of a dropped table
		_, _ = fmt.Fprintf(s, "-- a row of %s, which belongs to a virtual table: write it through that table\n", text.Line(r.Table))
	}
}
