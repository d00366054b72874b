package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// images is where the images are, from the root of the repository.
const images = "docs/images/walkthrough"

// chapter is a recording that stands in a guide.
type chapter struct {
	name  string // of its marks, and of its image
	title string
	guide string // file below docs/guide
	*screen
}

// publish writes the image and the text, unless they say the same already.
func (c chapter) publish(again bool) error {
	path := filepath.Join("docs/guide", c.guide)
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading the guide: %w", err)
	}
	guide := string(data)
	from, to, err := c.place(guide)
	if err != nil {
		return err
	}
	image := filepath.Join(images, c.name+".svg")
	if _, err := os.Stat(image); err == nil && !again && masked(guide[from:to]) == masked(c.block()) {
		fmt.Printf("%s: unchanged\n", c.name)
		return nil
	}
	fmt.Printf("%s: written\n", c.name)
	return errors.Join(
		os.MkdirAll(images, 0o755),                                           //nolint:gosec // documents
		os.WriteFile(image, c.svg(c.title), 0o644),                           //nolint:gosec // a document
		os.WriteFile(path, []byte(guide[:from]+c.block()+guide[to:]), 0o644), //nolint:gosec // a document
	)
}

// place is where a guide has the text of the chapter: between its marks.
func (c chapter) place(guide string) (from, to int, err error) {
	mark := fmt.Sprintf("<!-- walkthrough: %s -->\n", c.name)
	before, rest, ok := strings.Cut(guide, mark)
	text, _, ok2 := strings.Cut(rest, "<!-- end -->\n")
	if !ok || !ok2 {
		return 0, 0, fmt.Errorf("%s has no marks of the chapter %q", c.guide, c.name)
	}
	from = len(before) + len(mark)
	return from, from + len(text), nil
}

// block is what stands between the marks.
func (c chapter) block() string {
	return fmt.Sprintf("![%s](../images/walkthrough/%s.svg)\n\n<details><summary>The same as text</summary>\n\n```console\n%s```\n\n</details>\n", c.title, c.name, c.screen)
}

// varies is what differs between two runs of the same program.
var varies = regexp.MustCompile(`\d\d:\d\d:\d\d(\.\d+)?|\d+ (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)|` + // times
	`\b(\d+(\.\d+)?(h|m|s|ms|µs))+\b|\b\d+(\.\d+)? (B|KiB|MiB)\b|` + // durations and sizes
	`\b[0-9a-f]{7,}\b|\bop-\w{10,}|duration-ms=\d+`) // hashes and ids

// masked is text without what differs between two runs. Columns may move with it.
func masked(text string) string {
	return strings.Join(strings.Fields(varies.ReplaceAllString(text, "#")), " ")
}
