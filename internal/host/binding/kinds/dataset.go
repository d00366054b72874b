package kinds

import (
	"regexp"
	"strings"
)

var datasetPattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)

// DatasetRule says in words what IsDataset checks.
const DatasetRule = "1 to 64 letters, digits, hyphens and underscores, a letter or underscore first"

// IsDataset reports whether a dataset of data points may have that name, which is that of a table.
func IsDataset(name string) bool {
	return datasetPattern.MatchString(name) && !strings.HasPrefix(strings.ToLower(name), "sqlite_")
}
