package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/api"
)

// However rarely the CLI looks, each step of a deploy has its line.
func TestEveryStepIsShown(t *testing.T) {
	t.Parallel()
	begun := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	row := func(step string, status api.StepStatus, took time.Duration) api.StepRun {
		r := api.StepRun{Step: step, Status: status, StartedAt: api.At(begun)}
		if took > 0 {
			r.EndedAt = api.MaybeAt(begun.Add(took))
		}
		return r
	}
	fetched := row("fetching", api.StepStatusDone, 5*time.Millisecond)
	prepared := row("preparing", api.StepStatusDone, 20*time.Millisecond)
	for name, tc := range map[string]struct {
		seen []api.Version
		want string
	}{
		"one look": {[]api.Version{{Status: api.VersionStatusReady, Timeline: []api.StepRun{fetched, prepared}}}, "fetching preparing"},
		"in the middle": {[]api.Version{
			{Status: api.VersionStatusPending},
			{Status: api.VersionStatusFetching, Timeline: []api.StepRun{row("fetching", api.StepStatusRunning, 0)}},
			{Status: api.VersionStatusReady, Timeline: []api.StepRun{fetched, prepared}},
		}, "pending fetching preparing"},
		"failed": {[]api.Version{
			{Status: api.VersionStatusFailed, Timeline: []api.StepRun{fetched, row("preparing", api.StepStatusFailed, time.Second)}},
		}, "fetching"},
	} {
		var printed bytes.Buffer
		k := &kit.Kit{Streams: kit.Streams{Out: &bytes.Buffer{}, Err: &printed}}
		p, told := k.NewProgress(), 0
		for _, v := range tc.seen {
			told = showSteps(p, v, told)
		}
		p.Abort()
		var got []string
		for line := range strings.Lines(printed.String()) {
			got = append(got, strings.Fields(line)[0])
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%s: printed %q, want %s", name, printed.String(), tc.want)
		}
	}
}
