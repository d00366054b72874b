package dev

import (
	"regexp"
	"strings"

	"github.com/svcctl/svcctl/internal/lib/text"
)

// colors are the sequences that color text.
var colors = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// clean removes colors and hidden characters from what a client or a worker sent.
func clean(s string) string {
	return text.Clean(strings.NewReplacer("\n", "", "\t", "").Replace(colors.ReplaceAllString(s, "")))
}
