package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/api"
)

// printPlan shows what a promote would leave behind.
func printPlan(ctx context.Context, k *kit.Kit, project, id string) error {
	c, err := k.Client()
	if err != nil {
		return err
	}
	p, err := c.PromotionPlan(ctx, project, id)
	if err != nil {
		return err
	}
	return k.Print(p, func() {
		switch p.ProductionVersionID {
		case "":
			k.Printf("%s would be the first production of %s", p.VersionID, p.ProjectID)
		case p.VersionID:
			k.Printf("%s is production of %s already", p.VersionID, p.ProjectID)
		default:
			k.Printf("%s would replace %s as production of %s", p.VersionID, p.ProductionVersionID, p.ProjectID)
		}
		if p.Status != api.VersionStatusReady {
			k.Printf("%s is %s: only a ready version can be promoted", p.VersionID, p.Status)
		}
		printLeft(k, p.Unmerged, p.Waiting, p.ProductionVersionID, p.VersionID)
	})
}

// printLeft shows what old has that the version lacks, and its work; nil is not counted.
func printLeft(k *kit.Kit, u *api.Unmerged, w *api.WaitingWork, old, version string) {
	if u != nil {
		k.Printf("%s", cutOf(*u, old, version))
		if rows := unmergedRows(*u); len(rows) > 0 {
			k.Table([]string{"UNMERGED", "NEW", "CHANGED", "DELETED"}, rows)
		}
	}
	if w != nil && *w != (api.WaitingWork{}) {
		k.Printf("%s stay with %s, which continues with them", workOf(*w), old)
	}
}

// cutOf says since when two versions differ, or why that is not known.
func cutOf(u api.Unmerged, old, version string) string {
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
	rows := unmergedRows(u)
	if len(rows) == 0 {
		return fmt.Sprintf("%s wrote nothing since %s that %s lacks", old, since, version)
	}
	return fmt.Sprintf("%s wrote since %s, and %s lacks:", old, since, version)
}

// unmergedRows are the lines of the table; records that did not change have none.
func unmergedRows(u api.Unmerged) (rows [][]string) {
	add := func(what string, w api.WrittenRecords) {
		if w.AtLeast || w.Inserted+w.Updated+w.Deleted > 0 {
			rows = append(rows, []string{kit.Clean(what), atLeast(w.Inserted, w), atLeast(w.Updated, w), atLeast(w.Deleted, w)})
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

// atLeast writes a count, which may be a lower bound.
func atLeast(n int64, w api.WrittenRecords) string {
	if w.AtLeast {
		return "at least " + strconv.FormatInt(n, 10)
	}
	return strconv.FormatInt(n, 10)
}

// noteLeft says in one line what a promote left behind.
func noteLeft(k *kit.Kit, p promoted) {
	if p.Unmerged != nil {
		var parts []string
		for _, row := range unmergedRows(*p.Unmerged) {
			parts = append(parts, row[0])
		}
		if len(parts) > 0 {
			k.Notef("%s wrote what %s lacks: %s; svcctl promotions get %s counts them", p.PreviousVersionID, p.VersionID, strings.Join(parts, ", "), p.OperationID)
		}
	}
	if p.Waiting != nil && *p.Waiting != (api.WaitingWork{}) {
		k.Notef("%s stay with %s, which continues with them", workOf(*p.Waiting), p.PreviousVersionID)
	}
}
