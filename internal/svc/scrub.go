package svc

import "strings"

// Scrub is what has to be done to the databases of a version that begins with
// production's data, before it serves [D23]. The zero value is nothing.
type Scrub struct {
	ID  string `json:"id"`  // version that it became necessary for: of it or of an ancestor
	SQL string `json:"sql"` // the operator's, of SVC_SCRUB_SQL
}

// scrubSection begins a section of the SQL: the statements up to the next one are
// for one database, "<project>/<database>". Those before the first section are
// for all.
const scrubSection = "-- database:"

// For is the SQL for one database, with the line numbers of the whole. Where
// there are sections, a database without one is an error: a wrong name would
// leave it as it is.
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
		return "", Errorf(Unprocessable, "scrub_missing", "SVC_SCRUB_SQL has no section for the database %s/%s", project, database).
			WithHint("add the line %q, and below it what is to be done, if anything", scrubSection+" "+project+"/"+database)
	}
	return b.String(), nil
}

// CheckScrub refuses SQL that does nothing, or has a section that names no
// database.
func CheckScrub(sql string) error {
	empty := true
	for line := range strings.Lines(sql) {
		name, ok := sectionOf(line)
		if project, database, _ := strings.Cut(name, "/"); ok && (CheckProjectID(project) != nil || database == "") {
			return Errorf(Unprocessable, "invalid_scrub", "%q names no database", strings.TrimSpace(line)).
				WithHint("want %s PROJECT/DATABASE", scrubSection)
		}
		line = strings.TrimSpace(line)
		empty = empty && !ok && (line == "" || strings.HasPrefix(line, "--"))
	}
	if empty {
		return Errorf(Unprocessable, "invalid_scrub", "the SQL has no statement")
	}
	return nil
}

func sectionOf(line string) (name string, ok bool) {
	name, ok = strings.CutPrefix(strings.TrimSpace(line), scrubSection)
	return strings.TrimSpace(name), ok
}
