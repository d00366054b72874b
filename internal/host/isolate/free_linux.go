package isolate

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/svcctl/svcctl/internal/svc"
)

// tables are the files with ids that a machine has given away, and where in a line, between colons,
// the first id and their number are; -1 for one.
//
//nolint:gochecknoglobals // a constant table
var tables = []struct {
	file        string
	first, size int
}{
	{"/etc/passwd", 2, -1}, {"/etc/group", 2, -1}, {"/etc/subuid", 1, 2}, {"/etc/subgid", 1, 2},
}

// checkFree refuses a range with an id of a user, a group or a rootless container.
func checkFree(from svc.Isolation) error {
	for _, t := range tables {
		text, err := os.ReadFile(t.file)
		if err != nil {
			continue // the machine has none
		}
		if name := taken(string(text), t.first, t.size, from); name != "" {
			return fmt.Errorf("%s gives ids of the range %s to %s", t.file, from, name)
		}
	}
	return nil
}

// taken returns the name in the first line whose ids are in a range; "" for none.
func taken(text string, first, size int, from svc.Isolation) string {
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimSpace(line), ":")
		if len(fields) <= max(first, size) {
			continue
		}
		low, err := strconv.Atoi(fields[first])
		n := 1
		if size >= 0 && err == nil {
			n, err = strconv.Atoi(fields[size])
		}
		if err == nil && low <= from.Last && from.First < low+n {
			return fields[0]
		}
	}
	return ""
}
