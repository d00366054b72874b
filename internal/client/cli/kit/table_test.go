package kit_test

import (
	"strings"
	"testing"
)

// TestTableFit: columns are dropped, in order, until the table fits the terminal.
func TestTableFit(t *testing.T) {
	t.Parallel()
	table := func(columns int, env ...string) (lines []string, note string) {
		k, out, errs := newKit(t, env...)
		k.Columns = columns
		header := []string{"VERSION", "AGE", "URL", "ERROR"}
		k.TableFit(header, [][]string{{"v1", "3m", "http://v1.shop.example"}, {"v2", "4m", "http://v2.shop.example", "deploying: failed"}}, "URL", "ERROR", "AGE")
		return strings.Split(strings.TrimRight(out.String(), "\n"), "\n"), errs.String()
	}
	for columns, want := range map[int]string{0: "v2       4m   http://v2.shop.example  deploying: failed", 100: "v2       4m   http://v2.shop.example  deploying: failed", 40: "v2       4m   deploying: failed", 15: "v2       4m"} {
		lines, note := table(columns)
		if lines[2] != want || (note == "") != strings.Contains(want, "http") {
			t.Errorf("%d columns: %q, %q", columns, lines, note)
		}
	}
	if lines, note := table(15, "SVCCTL_OUTPUT=wide"); !strings.Contains(lines[2], "http://v2") || note != "" {
		t.Errorf("wide: %q, %q", lines, note)
	}
	if _, note := table(15); note != "no room for URL, ERROR; -o wide shows all columns\n" {
		t.Errorf("note %q", note)
	}
}
