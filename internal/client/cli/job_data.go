package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/lib/text"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

const (
	// dataWithin bounds the comparison that a job waits for.
	dataWithin = 5 * time.Second
	// reportedCounts and reportedObjects bound what a report says of it.
	reportedCounts, reportedObjects, reportedBytes = 20, 20, 2000
)

// changedData notes what a version changed of the data that it was forked with, which are its
// migrations and seeds. c may have no more than the poll ticket of the version. A report does
// without it where it cannot be read in time: a deploy does not depend on it.
func (j *job) changedData(ctx context.Context, c *client.Client, v api.Version) {
	if j.noData || j.comment == "" && j.env["GITHUB_STEP_SUMMARY"] == "" || parentOf(v) == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, dataWithin)
	defer cancel()
	d := &dataDifference{VersionID: v.ID}
	switch err := d.collect(c.DiffData(ctx, v.ProjectID, v.ID, client.DiffOptions{})); {
	case client.CodeOf(err) == svc.CodeDiffTooLarge:
		j.report.Changed = "too much to be compared here"
	case err == nil:
		j.report.Changed, j.report.Schema = d.counted(), d.schemaDiff()
	}
}

// counted says in one line how many records differ.
func (d *dataDifference) counted() string {
	var parts []string
	for left, i := reportedBytes, 0; i < min(len(d.Counts), reportedCounts); i++ {
		c := d.Counts[i]
		part := fmt.Sprintf("%s +%d ~%d -%d", c.what(), c.Inserted, c.Updated, c.Deleted)
		if left -= len(part); left < 0 {
			break
		}
		parts = append(parts, part)
	}
	if n := len(d.Counts) - len(parts); n > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", n))
	}
	if len(parts) == 0 && len(d.Schema) == 0 {
		return "nothing since the fork"
	}
	return strings.Join(parts, "; ")
}

// schemaDiff has the statements that differ, as lines of a diff.
func (d *dataDifference) schemaDiff() string {
	var b strings.Builder
	for i, s := range d.Schema {
		if i == reportedObjects {
			fmt.Fprintf(&b, "# and %d more\n", len(d.Schema)-i)
			break
		}
		fmt.Fprintf(&b, "# D1 %s: %s %s\n", text.Line(s.Database), s.Type, text.Line(s.Name))
		for _, side := range []struct{ sign, sql string }{{"-", s.Was}, {"+", s.Is}} {
			for line := range strings.Lines(side.sql) {
				b.WriteString(side.sign + " " + text.Line(strings.TrimRight(line, "\r\n")) + "\n")
			}
		}
	}
	return strings.TrimRight(b.String(), "\n")
}
