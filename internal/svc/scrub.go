package svc

import "strings"

// Scrub is the SQL that must run on the databases of a version forked from
// production before the version serves [D23]. The zero value means no scrub.
type Scrub struct {
	ID  string `json:"id"`  // of the version that was forked from production: this version or an ancestor
	SQL string `json:"sql"` // content of the file SVC_SCRUB_SQL
}

// scrubSection begins a section of the SQL, up to the next section, for one
// database "<project>/<database>". Statements before the first section are for
// all databases.
const scrubSection = "-- database:"

// For returns the SQL for one database. It keeps the line numbers of the whole
// file. If the file has sections, a database without one is an error, so that a
// misspelled name cannot leave a database unscrubbed.
func (s Scrub) For(project, database string) (string, error) {
	var b strings.Builder
	mine, sections, found := true, false, false
	for line := range strings.Lines(s.SQL) {
		if name, ok := sectionOf(line); ok {
			mine = name == project+"/"+database
			sections, found = true, found || mine
		}
		if mine {
			b.WriteString(line)
		} else {
			b.WriteByte('\n')
		}
	}
	if sections && !found {
		return "", Errorf(Unprocessable, CodeScrubMissing, "SVC_SCRUB_SQL has no section for the database %s/%s", project, database).
			WithHint("add the line %q, and below it the statements for this database, if any", scrubSection+" "+project+"/"+database)
	}
	return b.String(), nil
}

// CheckScrub returns Unprocessable invalid_scrub for SQL without a statement or
// with a section that names no database.
func CheckScrub(sql string) error {
	empty := true
	for line := range strings.Lines(sql) {
		name, ok := sectionOf(line)
		if project, database, _ := strings.Cut(name, "/"); ok && (CheckProjectID(project) != nil || database == "") {
			return Errorf(Unprocessable, CodeInvalidScrub, "%q names no database", strings.TrimSpace(line)).
				WithHint("want %s PROJECT/DATABASE", scrubSection)
		}
		line = strings.TrimSpace(line)
		empty = empty && !ok && (line == "" || strings.HasPrefix(line, "--"))
	}
	if empty {
		return Errorf(Unprocessable, CodeInvalidScrub, "the SQL has no statement")
	}
	return nil
}

func sectionOf(line string) (name string, ok bool) {
	name, ok = strings.CutPrefix(strings.TrimSpace(line), scrubSection)
	return strings.TrimSpace(name), ok
}
