package cron

import (
	"slices"
	"testing"

	"github.com/svcctl/svcctl/internal/data/sqlite/raw"
	"github.com/svcctl/svcctl/internal/data/volume"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestRetry: a run that the end of its process cut off is repeated once, unless it would
// come too late or the worker forbade it. A process that begins on the data of another one
// takes it away, as after SIGKILL.
func TestRetry(t *testing.T) {
	t.Parallel()
	const cron, first = "*/10 * * * *", "*/10 * * * * 22 09:00"
	for name, c := range map[string]struct {
		cron    string
		during  func(*process, svc.Event) // while the run is under way
		restart string
		want    []string
	}{
		"killed":              {cron, nil, "09:03", []string{first + " interrupted", first + " ok (retry)"}},
		"killed, no retry":    {cron, noRetry, "09:03", []string{first + " interrupted"}},
		"the next one is due": {cron, nil, "09:10", []string{first + " interrupted"}},
		"longer than an hour": {"0 9 * * *", nil, "10:00", []string{"0 9 * * * 22 09:00 interrupted"}},
		"ended":               {cron, ends(svc.OutcomeOK), "09:03", []string{first + " ok"}},
		"threw":               {cron, ends(svc.OutcomeException), "09:03", []string{first + " exception"}},
		"timed out":           {cron, ends(svc.OutcomeTimeout), "09:03", []string{first + " timeout"}},
		"workerd exited":      {cron, ends(svc.OutcomeExited), "09:03", []string{first + " exited", first + " ok (retry)"}},
		"the version stopped": {cron, stops, "09:03", []string{first + " canceled", first + " ok (retry)"}},
		"stopped, no retry":   {cron, func(p *process, e svc.Event) { noRetry(p, e); stops(p, e) }, "09:03", []string{first + " canceled"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			p := begin(t, dir, newDial("08:55"), c.cron)
			svctest.Wait(t, "the loop to sleep", p.clock.sleeps)
			p.clock.set("09:00")
			e := svctest.Wait(t, "the run", p.began)
			if c.during != nil {
				c.during(p, e)
			}
			p = begin(t, dir, newDial(c.restart), c.cron)
			svctest.Wait(t, "the loop to sleep", p.clock.sleeps)
			if again := len(c.want) > 1; again {
				if e := svctest.Wait(t, "the retry", p.began); !e.Scheduled.Time.Equal(instant("09:00")) || e.Scheduled.Cron != c.cron {
					t.Errorf("the retry is %+v", e.Scheduled)
				}
				p.end(1, svc.OutcomeOK)
			}
			p.idle()
			p.recorded(c.want...)
			p = begin(t, dir, newDial(c.restart), c.cron)
			svctest.Wait(t, "the loop to sleep", p.clock.sleeps)
			p.idle()
			p.recorded(c.want...)
		})
	}
}

// noRetry is a call of controller.noRetry(), until it is recorded.
func noRetry(p *process, e svc.Event) {
	e.NoRetry()
	forbidden := func() (yes bool) {
		db, err := p.volumes.Database(p.t.Context(), volume.OwnPrefix+"cron")
		if err == nil {
			err = db.Read(p.t.Context(), func(c *raw.Conn) error {
				return c.Query(`SELECT no_retry FROM cron_run`, nil, func(s *raw.Stmt) error { yes = s.Int64(0) == 1; return nil })
			})
		}
		if err != nil {
			p.t.Error(err)
		}
		return yes
	}
	svctest.Eventually(p.t, "the call to be recorded", forbidden)
}

func ends(outcome svc.Outcome) func(*process, svc.Event) {
	return func(p *process, _ svc.Event) {
		p.end(1, outcome)
		p.idle()
	}
}

// stops ends the version in good order, which cancels what is under way.
func stops(p *process, _ svc.Event) {
	if err := p.set.Close(); err != nil {
		p.t.Error(err)
	}
}

// TestRetryOfRetry: a retry that is cut off is not repeated.
func TestRetryOfRetry(t *testing.T) {
	t.Parallel()
	dir, want := t.TempDir(), []string{"*/10 * * * * 22 09:00 interrupted", "*/10 * * * * 22 09:00 interrupted (retry)"}
	p := begin(t, dir, newDial("08:55"), "*/10 * * * *")
	p.sleeps("22 09:00")
	p.clock.set("09:00")
	p.runs("*/10 * * * * 22 09:00")
	p = begin(t, dir, newDial("09:01"), "*/10 * * * *")
	p.runs("*/10 * * * * 22 09:00")
	p = begin(t, dir, newDial("09:02"), "*/10 * * * *")
	p.sleeps("22 09:10")
	p.idle()
	if got := p.journal(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
