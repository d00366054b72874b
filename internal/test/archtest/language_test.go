package archtest_test

import (
	_ "embed"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

//go:embed phrases.txt
var phraseList string

// phrases are what the project does not write: one expression for all of them,
// and what to write instead of each.
type phrases struct {
	match *regexp.Regexp
	plain map[string]string
}

// TestPlainLanguage fails for each line of code, documentation or script that
// has a phrase of phrases.txt. It reads whole lines, names and strings included.
func TestPlainLanguage(t *testing.T) {
	t.Parallel()
	banned := parsePhrases(phraseList)
	fsys := os.DirFS("../../..")
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return enterText(p)
		case isProse(p):
			checkProse(t, fsys, p, banned)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func parsePhrases(list string) phrases {
	ph := phrases{plain: map[string]string{}}
	var all []string
	for line := range strings.Lines(list) {
		if text, plain, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && line[0] != '#' {
			ph.plain[text] = plain
			all = append(all, strings.ReplaceAll(regexp.QuoteMeta(text), " ", `\s+`))
		}
	}
	ph.match = regexp.MustCompile(`(?i)\b(?:` + strings.Join(all, "|") + `)\b`)
	return ph
}

// suspect reports whether a line may have a phrase: whether its letters occur, as part of a longer
// word too. It takes a hundredth of the time of the expression, which then decides.
func (ph phrases) suspect(line string) bool {
	line = strings.Join(strings.Fields(strings.ToLower(line)), " ")
	for phrase := range ph.plain {
		if strings.Contains(line, phrase) {
			return true
		}
	}
	return false
}

// quoted removes Go's own names, and the texts of other programs that tests pin.
var quoted = strings.NewReplacer("http.NoBody", "", "noBody", "", "objects can be deleted at once", "")

// enterText skips directories that hold no text of this project.
func enterText(dir string) error {
	name := path.Base(dir)
	if dir != "." && (name == ".git" || name == "node_modules" || name == "man" || name == "bin" || name == "dist" || name == "fuzz") {
		return fs.SkipDir
	}
	return nil
}

// isProse reports whether p holds text that a person wrote: no generated file,
// no data.
func isProse(p string) bool {
	switch {
	case strings.HasSuffix(p, ".gen.go"), path.Base(p) == "phrases.txt":
		return false
	case path.Base(p) == "Makefile", strings.HasPrefix(p, "scripts/"):
		return true
	}
	return slices.Contains([]string{".go", ".md", ".yaml", ".js", ".mjs", ".ts", ".sh", ".txtar"}, path.Ext(p))
}

func checkProse(t *testing.T, fsys fs.FS, p string, banned phrases) {
	t.Helper()
	text, err := fs.ReadFile(fsys, p)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		if n++; !banned.suspect(line) {
			continue
		}
		for _, found := range banned.match.FindAllString(quoted.Replace(line), -1) {
			key := strings.Join(strings.Fields(strings.ToLower(found)), " ")
			t.Errorf("%s:%d: %q: write instead:%s", p, n, found, banned.plain[key])
		}
	}
}
