package svc

import (
	"fmt"
	"strings"
)

// None reports whether the version wrote nothing that the other one lacks. What could not be
// compared or counted is not nothing.
func (u Unmerged) None() bool { return u.Reason == NoCutNone && len(u.parts()) == 0 }

// Words has the counts in words: "4 rows of main.orders, at least 6 keys"; "" for none.
func (u Unmerged) Words() string { return strings.Join(u.parts(), ", ") }

func (u Unmerged) parts() (list []string) {
	add := func(w Written, one, more string) {
		n := w.Inserted + w.Updated + w.Deleted
		switch {
		case w.AtLeast:
			list = append(list, fmt.Sprintf("at least %d %s", n, more))
		case n == 1:
			list = append(list, "1 "+one)
		case n > 0:
			list = append(list, fmt.Sprintf("%d %s", n, more))
		}
	}
	for _, t := range u.Tables {
		name := t.Database
		if t.Table != "" {
			name += "." + t.Table
		}
		add(t.Written, "row of "+name, "rows of "+name)
	}
	add(u.Keys, "key", "keys")
	add(u.Objects, "object", "objects")
	add(u.Messages, "message", "messages")
	add(u.Instances, "workflow instance", "workflow instances")
	return list
}
