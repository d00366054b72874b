package dashboard

import (
	"fmt"

	"github.com/svcctl/svcctl/pkg/api"
)

// stays reports whether a promote leaves writes behind: records were written, or it is not known
// that none was. nil is a promote that replaces no production.
func stays(u *api.Unmerged) bool {
	if u == nil {
		return false
	}
	n, atLeast := records(*u)
	return u.Reason != api.UnmergedReasonEmpty || n > 0 || atLeast
}

// apart reports whether two versions have no common cut that could be counted from.
func apart(u *api.Unmerged) bool {
	return u != nil && (u.Reason == api.UnmergedReasonUnrelated || u.Reason == api.UnmergedReasonLost)
}

// records is the number of records that were written, which may be a lower bound.
func records(u api.Unmerged) (n int64, atLeast bool) {
	add := func(w api.WrittenRecords) {
		n, atLeast = n+w.Inserted+w.Updated+w.Deleted, atLeast || w.AtLeast
	}
	for _, t := range u.Tables {
		add(api.WrittenRecords{Inserted: t.Inserted, Updated: t.Updated, Deleted: t.Deleted, AtLeast: t.AtLeast})
	}
	for _, w := range []api.WrittenRecords{u.Keys, u.Objects, u.Messages, u.Instances} {
		add(w)
	}
	return n, atLeast
}

// notMerged says in a word or two what a promotion left behind.
func notMerged(u *api.Unmerged) sign {
	if u == nil {
		return sign{Word: "–", Class: "dim"}
	}
	switch u.Reason {
	case api.UnmergedReasonUnrelated:
		return sign{Word: "all data", Class: "bad"}
	case api.UnmergedReasonLost:
		return sign{Word: "unknown", Class: "bad"}
	case api.UnmergedReasonUnavailable:
		return sign{Word: "not counted", Class: "busy"}
	case api.UnmergedReasonEmpty:
	}
	n, atLeast := records(*u)
	switch {
	case atLeast:
		return sign{Word: fmt.Sprintf("at least %d", n), Class: "busy"}
	case n > 0:
		return sign{Word: fmt.Sprint(n), Class: "busy"}
	}
	return sign{Word: "0", Class: "dim"}
}

// export is the command that writes what was left behind to files.
func export(project, old string) string {
	return "svcctl data export " + project + "/" + old + " --since-cut"
}

// rescue says what a promote left behind, and how to get it; "" for nothing.
func rescue(p api.Promotion) string {
	if !stays(p.Unmerged) {
		return ""
	}
	n, _ := records(*p.Unmerged)
	what := "What " + p.PreviousVersionID + " wrote stays there"
	if n > 0 {
		what = fmt.Sprintf("%d writes of %s stay there", n, p.PreviousVersionID)
	}
	return " " + what + ": " + export(p.ProjectID, p.PreviousVersionID) + " exports them."
}
