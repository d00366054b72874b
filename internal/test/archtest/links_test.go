package archtest_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	linkTarget = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	codeBlock  = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	codeSpan   = regexp.MustCompile("`[^`\n]*`")
	heading    = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	notInIDs   = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
)

// TestLinks fails for a link of the documentation to a file or a heading that does not exist.
func TestLinks(t *testing.T) {
	t.Parallel()
	const top = "../../.."
	count := 0
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/start/*.md", "docs/guide/*.md", "docs/reference/*.md", "docs/contributing/*.md"} {
		files, err := filepath.Glob(filepath.Join(top, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			for _, target := range linksOf(t, file) {
				count++
				checkLink(t, file, target)
			}
		}
	}
	if count < 300 {
		t.Errorf("only %d links were found", count)
	}
}

// linksOf are the links of a page that stay in the repository.
func linksOf(t *testing.T, file string) (targets []string) {
	t.Helper()
	text := codeSpan.ReplaceAllString(codeBlock.ReplaceAllString(readPage(t, file), ""), "")
	for _, m := range linkTarget.FindAllStringSubmatch(text, -1) {
		if !strings.Contains(m[1], "://") && !strings.HasPrefix(m[1], "mailto:") {
			targets = append(targets, m[1])
		}
	}
	return targets
}

func checkLink(t *testing.T, file, target string) {
	t.Helper()
	name, id, _ := strings.Cut(target, "#")
	to := file
	if name != "" {
		to = path.Join(path.Dir(filepath.ToSlash(file)), name)
	}
	if _, err := os.Stat(to); err != nil {
		t.Errorf("%s: dead link %s", file, target)
		return
	}
	if id != "" && strings.HasSuffix(to, ".md") && !slices.Contains(headingsOf(t, to), id) {
		t.Errorf("%s: %s has no heading %s", file, to, id)
	}
}

// headingsOf are the ids that GitHub gives the headings of a page.
func headingsOf(t *testing.T, file string) (ids []string) {
	t.Helper()
	seen := map[string]int{}
	for _, m := range heading.FindAllStringSubmatch(codeBlock.ReplaceAllString(readPage(t, file), ""), -1) {
		id := strings.ReplaceAll(notInIDs.ReplaceAllString(strings.ToLower(strings.TrimSpace(m[1])), ""), " ", "-")
		if seen[id]++; seen[id] == 1 {
			ids = append(ids, id)
		}
	}
	return ids
}

// TestReadmeIsShort: the README is one page, of at most 80 lines.
func TestReadmeIsShort(t *testing.T) {
	t.Parallel()
	if lines := strings.Count(readPage(t, "../../../README.md"), "\n"); lines > 80 {
		t.Errorf("the README has %d lines: move some to docs", lines)
	}
}

func readPage(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
