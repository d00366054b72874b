package svc_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
)

// TestCodesTable checks the form of the rows; archtest checks that the program
// uses the codes.
func TestCodesTable(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	codes := svc.Codes()
	for i, c := range codes {
		if !form.MatchString(c.Code) || i > 0 && codes[i-1].Code == c.Code {
			t.Errorf("the code %q is listed twice, or is not in lower case with underscores", c.Code)
		}
		if !strings.HasSuffix(c.Meaning, ".") || !strings.HasSuffix(c.Remedy, ".") {
			t.Errorf("%s: want a meaning and a remedy that end with a full stop: %q, %q", c.Code, c.Meaning, c.Remedy)
		}
		if kinds := slices.Sorted(slices.Values(c.Kinds)); len(slices.Compact(kinds)) != len(c.Kinds) {
			t.Errorf("%s lists a kind twice", c.Code)
		}
	}
}
