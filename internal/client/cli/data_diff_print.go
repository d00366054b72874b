package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/internal/lib/text"
	"github.com/svcctl/svcctl/pkg/api"
)

// print writes the difference for people.
func (d *dataDifference) print(k *kit.Kit, o dataDiffFlags) {
	if len(d.Schema)+len(d.Counts) == 0 {
		k.Printf("%s", d.none())
		return
	}
	k.Printf("%s", d.title())
	for _, s := range d.Schema {
		k.Printf("%s", k.Painted(s.line(), colorOfOp[s.Op]))
		if o.schema {
			printStatements(k, s)
		}
	}
	if o.schema {
		return
	}
	if rows := d.rows(); len(rows) > 0 {
		k.Table([]string{"DATA", "NEW", "CHANGED", "DELETED"}, rows)
	}
	if !o.Rows {
		return
	}
	for _, r := range d.Records {
		k.Printf("%s", k.Painted(recordText(r), colorOfOp[r.Op]))
	}
}

//nolint:gochecknoglobals // a constant table
var colorOfOp = map[api.DataExportRecordOp]string{"insert": "32", "update": "33", "delete": "31"}

// none says that nothing differs.
func (d *dataDifference) none() string {
	switch {
	case d.OtherVersionID != "":
		return fmt.Sprintf("the data of %s is that of %s", d.VersionID, d.OtherVersionID)
	case d.CommonVersionID == "":
		return d.VersionID + " has no data"
	}
	return fmt.Sprintf("%s changed no data since it was forked from %s%s", d.VersionID, d.CommonVersionID, d.at())
}

// title says what is compared.
func (d *dataDifference) title() string {
	switch {
	case d.OtherVersionID == "" && d.CommonVersionID == "":
		return "all data of " + d.VersionID + ", which was not forked:"
	case d.OtherVersionID == "":
		return fmt.Sprintf("what %s changed since it was forked from %s%s:", d.VersionID, d.CommonVersionID, d.at())
	case d.CommonVersionID == "":
		return fmt.Sprintf("from the data of %s to that of %s, which inherited nothing from each other:", d.VersionID, d.OtherVersionID)
	}
	return fmt.Sprintf("from the data of %s to that of %s:", d.VersionID, d.OtherVersionID)
}

func (d *dataDifference) at() string {
	if d.ForkedAt == nil {
		return ""
	}
	return " at " + d.ForkedAt.UTC().Format(time.RFC3339)
}

// rows are the counts, in a table.
func (d *dataDifference) rows() (rows [][]string) {
	for _, c := range d.Counts {
		rows = append(rows, []string{c.what(), strconv.FormatInt(c.Inserted, 10), strconv.FormatInt(c.Updated, 10), strconv.FormatInt(c.Deleted, 10)})
	}
	return rows
}

// what names the records that are counted.
func (c dataCount) what() string {
	return text.Line(placeText(c.Kind, c.Resource, c.Table))
}

// placeText names where records are.
func placeText(kind, resource, table string) string {
	switch api.DataExportRecordKind(kind) { //nolint:exhaustive // the others are not counted
	case api.DataExportRecordKindRow:
		return "D1 " + resource + ": rows of " + table
	case api.DataExportRecordKindKey:
		return "KV " + resource + ": keys"
	case api.DataExportRecordKindObject:
		return "R2 " + resource + ": objects"
	case api.DataExportRecordKindMessage:
		return "queue " + resource + ": messages"
	case api.DataExportRecordKindDurableObject:
		return "Durable Objects of " + resource
	}
	return resource + ": " + kind
}

// signOf shows what happened to a record.
func signOf(op api.DataExportRecordOp) string {
	switch op {
	case api.DataExportRecordOpInsert:
		return "+"
	case api.DataExportRecordOpDelete:
		return "-"
	case api.DataExportRecordOpUpdate:
	}
	return "~"
}

// line is an object of the schema.
func (s dataSchema) line() string {
	words := []string{signOf(s.Op), "D1 " + s.Database + ":", s.Type, s.Name}
	for _, c := range s.Added {
		words = append(words, "+"+c)
	}
	for _, c := range s.Removed {
		words = append(words, "-"+c)
	}
	return text.Line(strings.Join(words, " "))
}

// printStatements shows the statements of an object in both states.
func printStatements(k *kit.Kit, s dataSchema) {
	for _, side := range []struct{ sign, color, sql string }{{"-", "31", s.Was}, {"+", "32", s.Is}} {
		if side.sql == "" {
			continue
		}
		for line := range strings.Lines(side.sql) {
			k.Printf("%s", k.Painted("    "+side.sign+" "+text.Line(strings.TrimRight(line, "\r\n")), side.color))
		}
	}
}
