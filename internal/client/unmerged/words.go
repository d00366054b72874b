package unmerged

import (
	"fmt"
	"strconv"
	"strings"
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

// Left reports whether a promote leaves writes behind: records were written, or it is not known
// that none was. nil is a promote that replaces no production.
func Left(u *api.Unmerged) bool {
	return u != nil && (u.Reason != api.UnmergedReasonEmpty || len(Rows(*u)) > 0)
}

// Short says in one line what a promote leaves behind: what old has that version lacks.
func Short(u api.Unmerged, old, version string) string {
	if u.Reason != api.UnmergedReasonEmpty {
		return Cut(u, old, version)
	}
	var parts []string
	for _, r := range Rows(u) {
		parts = append(parts, r.counts())
	}
	return fmt.Sprintf("%s has what %s lacks: %s", old, version, strings.Join(parts, "; "))
}

// Rescue is the command that writes what was left behind to files.
func Rescue(project, old string) string {
	return "svcctl data export " + project + "/" + old + " --since-cut"
}

// counts is a row with the numbers that are not 0.
func (r Row) counts() string {
	var parts []string
	for _, n := range []struct {
		n    int64
		what string
	}{{r.Inserted, "new"}, {r.Updated, "changed"}, {r.Deleted, "deleted"}} {
		if n.n > 0 {
			parts = append(parts, Count(n.n, r.WrittenRecords)+" "+n.what)
		}
	}
	if len(parts) == 0 {
		return r.What
	}
	return r.What + ": " + strings.Join(parts, ", ")
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
