package database

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/svc"
)

// export answers with the database as a script of SQL, which import, sqlite3 and
// wrangler read. It is one transaction, into a file first: a slow client holds no
// connection of the worker's, and an answer that began is complete.
func (a admin) export(w http.ResponseWriter, r *http.Request) error {
	d, err := a.named(r.URL.Query().Get("binding"))
	if err != nil {
		return err
	}
	f, err := d.temp()
	if err != nil {
		return err
	}
	defer func() { _ = errors.Join(f.Close(), os.Remove(f.Name())) }() // so does opening the version again
	if err := d.exporting(r.Context(), f); err != nil {
		return ended(r, err)
	}
	size, err := f.Seek(0, io.SeekCurrent)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/sql")
	w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	_, _ = io.Copy(w, f) // the client may have left
	return nil
}

func (d *database) exporting(ctx context.Context, to io.Writer) error {
	turn, cancel := context.WithTimeout(ctx, maxDuration)
	defer cancel()
	leave, err := d.enter(turn)
	if err != nil {
		return err
	}
	defer leave()
	out := bufio.NewWriter(to)
	err = d.db.Read(ctx, func(c *raw.Conn) error {
		return c.InTx("BEGIN", func() error { return dump(c, out) })
	})
	return errors.Join(err, out.Flush())
}

// dump writes the tables with their rows, then what is made from them: indexes,
// triggers and views, in the order in which they were created.
func dump(c *raw.Conn, out *bufio.Writer) error {
	_, _ = out.WriteString("PRAGMA defer_foreign_keys=TRUE;\n") // Flush returns the error
	var tables, later [][2]string
	err := c.Query(`SELECT s.type, s.name, s.sql, coalesce(l.type, '') FROM sqlite_schema s
		LEFT JOIN pragma_table_list l ON l.schema = 'main' AND l.name = s.name AND s.type IN ('table', 'view')
		WHERE s.sql IS NOT NULL AND s.name NOT LIKE 'sqlite\_%' ESCAPE '\' AND s.name NOT LIKE '\_cf\_%' ESCAPE '\'
		ORDER BY s.rowid`, nil, func(s *raw.Stmt) error {
		switch {
		case s.Text(3) == "virtual":
			return svc.Errorf(svc.Unprocessable, svc.CodeSQLError, "the database has the virtual table %s, which a script cannot hold", s.Text(1)).
				WithHint("drop it, export, and create it again")
		case s.Text(0) == "table":
			tables = append(tables, [2]string{s.Text(1), s.Text(2)})
		default:
			later = append(later, [2]string{s.Text(1), s.Text(2)})
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, t := range tables {
		_, _ = out.WriteString(t[1] + ";\n")
		if err := dumpRows(c, t[0], out); err != nil {
			return fmt.Errorf("exporting table %s: %w", t[0], err)
		}
	}
	if err := dumpSequence(c, out); err != nil {
		return err
	}
	for _, t := range later {
		_, _ = out.WriteString(t[1] + ";\n")
	}
	return nil
}

// dumpRows writes an INSERT for each row of a table. Generated columns are computed
// when it is read. quote cuts text at a NUL, so such text is written as its bytes.
func dumpRows(c *raw.Conn, table string, out *bufio.Writer) error {
	var names, values []string
	err := c.Query(`SELECT name FROM pragma_table_xinfo(?1) WHERE hidden = 0`, []any{table}, func(s *raw.Stmt) error {
		name := quoteName(s.Text(0))
		names = append(names, name)
		values = append(values, fmt.Sprintf(`CASE WHEN typeof(%[1]s) = 'text' AND instr(%[1]s, char(0)) THEN 'CAST(X''' || hex(%[1]s) || ''' AS TEXT)' ELSE quote(%[1]s) END`, name))
		return nil
	})
	if err != nil || len(names) == 0 {
		return err
	}
	into := `INSERT INTO ` + quoteName(table) + ` (` + strings.Join(names, ",") + `) VALUES(`
	return c.Query(`SELECT `+strings.Join(values, ", ")+` FROM main.`+quoteName(table), nil, func(s *raw.Stmt) error {
		_, _ = out.WriteString(into)
		for i := range names {
			if i > 0 {
				_ = out.WriteByte(',')
			}
			_, _ = out.WriteString(s.Text(i))
		}
		_, err := out.WriteString(");\n")
		return err
	})
}

// dumpSequence writes the counters of AUTOINCREMENT, if a table has one.
func dumpSequence(c *raw.Conn, out *bufio.Writer) error {
	found := false
	if err := c.Query(`SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'`, nil, func(*raw.Stmt) error {
		found = true
		return nil
	}); err != nil || !found {
		return err
	}
	_, _ = out.WriteString("DELETE FROM sqlite_sequence;\n")
	return c.Query(`SELECT quote(name), seq FROM sqlite_sequence WHERE name NOT LIKE '\_cf\_%' ESCAPE '\'`, nil, func(s *raw.Stmt) error {
		_, err := fmt.Fprintf(out, "INSERT INTO sqlite_sequence (name, seq) VALUES(%s,%d);\n", s.Text(0), s.Int64(1))
		return err
	})
}
