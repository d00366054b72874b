package foreign

import (
	"fmt"
	"strings"
)

// Page is the body of the page of all rows: a table for each tool.
func Page() string {
	var b strings.Builder
	tool := ""
	for _, r := range rows() {
		if r.Tool != tool {
			tool = r.Tool
			fmt.Fprintf(&b, "\n## %s\n\n| instead of | type |\n|---|---|\n", tool)
		}
		text := r.Text
		if r.Alias {
			text = "`svcctl " + text + "`: runs"
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", r.Words, strings.ReplaceAll(text, "|", `\|`))
	}
	return b.String()
}
