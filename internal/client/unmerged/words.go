package unmerged

import (
	"fmt"
	"strconv"
	"time"

	"github.com/svcctl/svcctl/pkg/api"
)

// Cut says since when two versions differ, or why that is not known.
func Cut(u api.Unmerged, old, version string) string {
	switch u.Reason {
	case api.UnmergedReasonEmpty:
	case api.UnmergedReasonUnrelated:
		return fmt.Sprintf("no common cut: %s and %s inherited nothing from each other; nothing of the data of %s is in %s", old, version, old, version)
	case api.UnmergedReasonLost:
		return "no common cut: the record of the fork is deleted; what is not merged was not counted"
	case api.UnmergedReasonUnavailable:
		return "the data could not be read in time; what is not merged was not counted"
	}
	since := "the fork"
	if u.ForkedAt != nil {
		since = u.ForkedAt.UTC().Format(time.RFC3339)
	}
	if len(Rows(u)) == 0 {
		return fmt.Sprintf("%s wrote nothing since %s that %s lacks", old, since, version)
	}
	return fmt.Sprintf("%s wrote since %s, and %s lacks:", old, since, version)
}

// Row is one kind of records that a version wrote.
type Row struct {
	What string // may have texts that others chose
	api.WrittenRecords
}

// Rows returns what was written; records that did not change have no row.
func Rows(u api.Unmerged) (rows []Row) {
	add := func(what string, w api.WrittenRecords) {
		if w.AtLeast || w.Inserted+w.Updated+w.Deleted > 0 {
			rows = append(rows, Row{what, w})
		}
	}
	for _, t := range u.Tables {
		what := "D1 " + t.Database + ": rows of " + t.Table
		if t.Table == "" {
			what = "D1 " + t.Database + ": not compared in time"
		}
		add(what, api.WrittenRecords{Inserted: t.Inserted, Updated: t.Updated, Deleted: t.Deleted, AtLeast: t.AtLeast})
	}
	add("KV keys", u.Keys)
	add("R2 objects", u.Objects)
	add("queue messages", u.Messages)
	add("workflow instances", u.Instances)
	return rows
}

// Count writes one of the counts of w, which may be a lower bound.
func Count(n int64, w api.WrittenRecords) string {
	if w.AtLeast {
		return "at least " + strconv.FormatInt(n, 10)
	}
	return strconv.FormatInt(n, 10)
}
