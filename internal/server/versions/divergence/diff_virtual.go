package divergence

import (
	"regexp"
	"strings"

	"github.com/svcctl/svcctl/internal/data/rowdiff"
)

// A virtual table keeps its content in tables of its own, whose rows are written through the virtual
// table alone.
var (
	virtual     = regexp.MustCompile(`(?is)^CREATE\s+VIRTUAL\s+TABLE\b.*\bUSING\s+(fts[345]|rtree_i32|rtree|geopoly)\b`)
	contentless = regexp.MustCompile(`(?i)\bcontent\s*=\s*(''|"")`)
)

// shadowsOf returns the tables of virtual tables by name, true for those that only repeat what other
// tables have: an index of words of texts that are elsewhere.
func shadowsOf(list []rowdiff.Object) map[string]bool {
	shadows := map[string]bool{}
	for _, o := range list {
		m := virtual.FindStringSubmatch(o.SQL)
		if m == nil {
			continue
		}
		kept, derived := []string{"node"}, []string{"rowid", "parent"}
		switch kind := strings.ToLower(m[1]); {
		case kind == "fts5" && contentless.MatchString(o.SQL):
			kept, derived = []string{"data"}, []string{"idx", "docsize", "config"}
		case kind == "fts5":
			kept, derived = []string{"content"}, []string{"data", "idx", "docsize", "config"}
		case strings.HasPrefix(kind, "fts"):
			kept, derived = []string{"content"}, []string{"segments", "segdir", "docsize", "stat"}
		}
		for _, name := range kept {
			shadows[o.Name+"_"+name] = false
		}
		for _, name := range derived {
			shadows[o.Name+"_"+name] = true
		}
	}
	return shadows
}

// shadow reports whether a table belongs to a virtual table.
func (s *schemas) shadow(table string) bool { _, ok := s.shadows[table]; return ok }

// derived reports whether a table only repeats what other tables have.
func (s *schemas) derived(table string) bool { return s.shadows[table] }
