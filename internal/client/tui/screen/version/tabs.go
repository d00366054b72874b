package version

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

// timeline draws the steps of the deploy, each with a bar from its start to its end.
func (c *Screen) timeline(s *state.State, v api.Version, p ui.Page) []string {
	if len(v.Timeline) == 0 {
		return append(append([]string{""}, c.released(s, v, p)...), p.Dim.Render("  no step yet"))
	}
	from, to := v.Timeline[0].StartedAt.Time, s.Now
	if last := v.Timeline[len(v.Timeline)-1]; last.EndedAt != nil {
		to = last.EndedAt.Time
	}
	total := max(to.Sub(from), time.Millisecond)
	width := max(p.W-42, 10)
	lines := append([]string{""}, c.released(s, v, p)...)
	for _, r := range v.Timeline {
		end := to
		if r.EndedAt != nil {
			end = r.EndedAt.Time
		}
		sign, style := ui.StepSign(p.Theme, string(r.Status))
		at := int(float64(r.StartedAt.Sub(from)) / float64(total) * float64(width))
		at = min(max(at, 0), width-1)
		long := min(max(int(float64(end.Sub(r.StartedAt.Time))/float64(total)*float64(width)), 1), width-at)
		bar := strings.Repeat(" ", at) + strings.Repeat("█", long)
		lines = append(lines, fmt.Sprintf(" %s %s %s %s", style.Render(sign), ui.Fit(r.Step, 14), style.Render(ui.Fit(bar, width)), ui.Millis(end.Sub(r.StartedAt.Time))))
		if r.Detail != "" {
			for _, l := range ui.Wrap(ui.Clean(ui.Detail(v, r.Detail)), p.W-6) {
				lines = append(lines, "     "+p.Dim.Render(l))
			}
		}
	}
	lines = append(lines, "", fmt.Sprintf("   total %s, began %s", ui.Millis(total), from.UTC().Format("2006-01-02 15:04:05")))
	if v.ErrorOutput != "" {
		lines = append(lines, "", p.Head.Render(" the worker's last output"))
		for l := range strings.SplitSeq(ui.Output(v), "\n") {
			lines = append(lines, "   "+ui.Clean(l))
		}
	}
	return lines
}

// released is the row of the release that made the version.
func (c *Screen) released(s *state.State, v api.Version, p ui.Page) []string {
	if v.ReleasedFrom == "" {
		return nil
	}
	of := api.Promotion{CandidateVersionID: v.ReleasedFrom, VersionID: v.ID}
	list, _, _ := state.Get[[]api.Promotion](s, state.Need{Kind: state.Promotions, Project: c.project})
	if i := slices.IndexFunc(list, func(o api.Promotion) bool { return o.Kind == api.PromotionKindRelease && o.VersionID == v.ID }); i >= 0 {
		of = list[i]
	}
	return []string{" " + p.Good.Render("★") + " " + ui.Clean(ui.Released(of)), ""}
}

// bindings lists what the worker is bound to.
func (c *Screen) bindings(s *state.State, _ api.Version, p ui.Page) []string {
	list, ok, err := state.Get[[]api.Binding](s, c.need(state.Bindings))
	if len(list) == 0 {
		return []string{"", p.Dim.Render("  " + ui.Empty(ok, err, "no bindings"))}
	}
	lines := []string{"", p.Head.Render("  " + ui.Fit("NAME", 24) + ui.Fit("KIND", 20) + "DATA")}
	for _, b := range list {
		data := ""
		if b.Branched && b.ParentVersionID != nil {
			data = "began as that of " + *b.ParentVersionID + " at " + b.ForkTXID
		}
		lines = append(lines, "  "+ui.Fit(ui.Clean(b.Name), 24)+ui.Fit(ui.Clean(b.Kind), 20)+p.Dim.Render(ui.Clean(data)))
	}
	return lines
}

// process says what runs the version and how requests come to it.
func (c *Screen) process(s *state.State, v api.Version, p ui.Page) []string {
	lines := []string{""}
	say := func(name, value string) {
		lines = append(lines, "  "+p.Dim.Render(ui.Fit(name, 14))+" "+ui.Clean(value))
	}
	if r := v.Runtime; r == nil {
		say("process", "none while the version is "+string(v.Status))
	} else {
		say("state", string(r.State))
		switch {
		case r.ClusterNode != "":
			say("pod", r.Node+" on "+r.ClusterNode)
		case r.Node != "":
			say("machine", r.Node)
		}
		if r.Since != nil {
			say("since", ui.Age(s.Now, r.Since.Time))
		}
		say("restarts", fmt.Sprint(r.Restarts))
		if r.LastError != "" {
			say("last error", r.LastError)
		}
	}
	say("bundle", ui.Bytes(v.SizeBytes)+"  "+v.ArtifactDigest)
	if m, ok, _ := state.Get[api.MetricsSummary](s, state.Need{Kind: state.Traffic}); ok {
		of := ui.TrafficOfVersion(m, c.project, c.id)
		say("requests", fmt.Sprintf("%d in %.0f minutes, %d failed, %d by an exception; %s sent", of.Requests, m.WindowSeconds/60, of.Errors, of.Exceptions, ui.Bytes(of.Bytes)))
	}
	list, ok, err := state.Get[[]api.Route](s, state.Need{Kind: state.Routes, Project: c.project})
	lines = append(lines, "", p.Head.Render("  "+ui.Fit("HOST NAME", 44)+"IN FLIGHT  WEBSOCKETS  MEMORY    PID"))
	if !ok {
		return append(lines, p.Dim.Render("  "+ui.Empty(ok, err, "")))
	}
	for _, r := range list {
		if r.ProjectID == c.project && r.VersionID == c.id {
			lines = append(lines, "  "+ui.Fit(ui.Clean(r.Host), 44)+
				fmt.Sprintf("%-11d%-12d%-10s%d", r.Inflight, r.Websockets, ui.Bytes(r.RSSBytes), r.PID))
		}
	}
	return lines
}
