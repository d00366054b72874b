package dashboard

import (
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// versionBody is what each page of a version shows above its own part.
type versionBody struct {
	Version api.Version
	Project api.Project
	Part    any
	Back    *client.Rollback // of production: where a rollback leads; nil for nowhere
}

// showVersion renders a page of a version.
func (d *Dashboard) showVersion(c *call, tab string, v api.Version, part any) error {
	body := versionBody{Version: v, Part: part}
	group, ctx := errgroup.WithContext(c.r.Context())
	group.Go(func() (err error) { body.Project, err = c.api.Project(ctx, v.ProjectID); return err })
	if v.IsProduction {
		group.Go(func() (err error) { body.Back, err = c.back(ctx, v.ProjectID); return err })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	d.render(c, tab, page{
		Title: v.ProjectID + "/" + v.ID, Tab: tab, Place: place{v.ProjectID, v.ID}, Live: v.ProjectID, Body: body,
	})
	return nil
}

// stepBar is one step of a deploy with its place in the whole.
type stepBar struct {
	api.StepRun
	Bar bar
	Ms  float64
}

// stepGroup is a row of steps without a long pause: a deploy, or a later start.
type stepGroup struct {
	Steps []stepBar
	Ms    float64
	Later bool // after the deploy
}

// pause is the time between two steps that belong to different starts.
const pause = time.Second

// timelineBody is how a version came to be.
type timelineBody struct {
	Groups  []stepGroup
	Release *api.Promotion // that made the version; nil for a deploy
}

// timeline shows the steps of a deploy, and the release that made the version.
func (d *Dashboard) timeline(c *call) error {
	ref := c.ref()
	v, err := c.api.Version(c.r.Context(), ref.Project, ref.Version)
	if err != nil {
		return err
	}
	body := timelineBody{Groups: stepsOf(v.Timeline, d.now())}
	if v.ReleasedFrom != "" {
		if body.Release, err = releaseOf(c, v); err != nil {
			return err
		}
	}
	return d.showVersion(c, "timeline", v, body)
}

// releaseOf returns the release that made a version; nil for one that is too old to be looked for.
func releaseOf(c *call, v api.Version) (*api.Promotion, error) {
	const newest = 200
	list, err := c.api.Promotions(c.r.Context(), v.ProjectID, client.Page{Limit: newest})
	for _, p := range list.Items {
		if isRelease(p) && p.VersionID == v.ID {
			return &p, err
		}
	}
	return nil, err
}

// stepsOf places steps in the time from the start of the first to the end of the last of
// their group.
func stepsOf(steps []api.StepRun, now time.Time) (groups []stepGroup) {
	for len(steps) > 0 {
		n := 1
		for n < len(steps) && (steps[n-1].EndedAt == nil || steps[n].StartedAt.Sub(steps[n-1].EndedAt.Time) < pause) {
			n++
		}
		group := groupOf(steps[:n], now)
		group.Later = len(groups) > 0
		groups, steps = append(groups, group), steps[n:]
	}
	return groups
}

func groupOf(steps []api.StepRun, now time.Time) stepGroup {
	began, end := steps[0].StartedAt.Time, now
	if last := steps[len(steps)-1]; last.EndedAt != nil {
		end = last.EndedAt.Time
	}
	total := end.Sub(began)
	group := stepGroup{Ms: inMillis(total)}
	for _, s := range steps {
		to := end
		if s.EndedAt != nil {
			to = s.EndedAt.Time
		}
		length := to.Sub(s.StartedAt.Time)
		place := barOf(float64(s.StartedAt.Sub(began)), float64(length), float64(total))
		group.Steps = append(group.Steps, stepBar{s, place, max(inMillis(length), 0.1)}) // a step is never nothing
	}
	return group
}

func inMillis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
