package archtest_test

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
)

const adrDir = "docs/adr"

// TestADRIndex fails for a page of docs/adr without a row in its README.md, and for a row with another
// title or another status than the page.
func TestADRIndex(t *testing.T) {
	t.Parallel()
	fsys := os.DirFS("../../..")
	rows := adrRows(t, fsys)
	pages, err := fs.Glob(fsys, adrDir+"/[0-9]*.md")
	if err != nil || len(pages) < 2 {
		t.Fatalf("%d pages in %s, error %v", len(pages), adrDir, err)
	}
	for _, page := range pages {
		name := strings.TrimPrefix(page, adrDir+"/")
		if strings.HasPrefix(name, "0000-") { // the template
			continue
		}
		title, status := adrHead(t, fsys, page)
		begin := fmt.Sprintf("| [%s](%s) | %s | ", name[:4], name, title)
		row, known := rows[name]
		switch {
		case !known:
			t.Errorf("%s/README.md lacks a row for %s: add %q, what it decided in one sentence, and %q", adrDir, name, begin, status)
		case !strings.HasPrefix(row, begin) || !strings.HasPrefix(lastCell(row), status):
			t.Errorf("%s/README.md: the row of %s must begin with %q and have the status %q: %s", adrDir, name, begin, status, row)
		}
		delete(rows, name)
	}
	for name := range rows {
		t.Errorf("%s/README.md has a row for %s, which is not there", adrDir, name)
	}
}

// adrRows returns the rows of the index, by the file that they link first.
func adrRows(t *testing.T, fsys fs.FS) map[string]string {
	t.Helper()
	rows := map[string]string{}
	for line := range strings.Lines(readText(t, fsys, adrDir+"/README.md")) {
		if _, rest, ok := strings.Cut(line, "]("); ok && strings.HasPrefix(line, "| [") {
			name, _, _ := strings.Cut(rest, ")")
			rows[name] = strings.TrimSpace(line)
		}
	}
	return rows
}

// adrHead returns the title of a page without its number, and its status up to the first period.
func adrHead(t *testing.T, fsys fs.FS, page string) (title, status string) {
	t.Helper()
	text := readText(t, fsys, page)
	first, _, _ := strings.Cut(text, "\n")
	_, title, _ = strings.Cut(first, ": ")
	_, rest, ok := strings.Cut(text, "\nStatus: ")
	if title == "" || !ok {
		t.Fatalf("%s: want %q and %q", page, "# NNNN: title", "Status: accepted. Date: …")
	}
	status, _, _ = strings.Cut(rest, ".")
	return title, status
}

// lastCell returns the text of the last cell of a table's row.
func lastCell(row string) string {
	cells := strings.Split(strings.Trim(row, "| "), "|")
	return strings.TrimSpace(cells[len(cells)-1])
}

func readText(t *testing.T, fsys fs.FS, name string) string {
	t.Helper()
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
