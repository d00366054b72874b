package cli

import (
	"slices"
	"testing"

	"github.com/svcctl/svcctl/internal/svc"
)

// TestDoctorGivesEachAdviceOnce: checks that fail for one reason share a line.
func TestDoctorGivesEachAdviceOnce(t *testing.T) {
	t.Parallel()
	finding := func(check, advice string) svc.Finding { return svc.Finding{Check: check, Advice: advice} }
	e := examination{
		Outside: []svc.Finding{finding("API", ""), finding("TLS", "deploy"), finding("scheme", "deploy"), finding("DNS", "add a record")},
		Inside:  []svc.Finding{finding("disk", "free space"), finding("clock", "")},
	}
	want := []advice{{"deploy", []string{"TLS", "scheme"}}, {"add a record", []string{"DNS"}}, {"free space", []string{"disk"}}}
	same := func(a, b advice) bool { return a.text == b.text && slices.Equal(a.checks, b.checks) }
	if got := e.advice(); !slices.EqualFunc(got, want, same) {
		t.Errorf("%v, want %v", got, want)
	}
}
