package version

import (
	"fmt"
	"strings"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

// bundle lists what the bundle of the version has in it.
func (c *Screen) bundle(s *state.State, _ api.Version, p ui.Page) []string {
	b, ok, err := state.Get[api.Bundle](s, c.need(state.Bundle))
	if !ok {
		return []string{"", p.Dim.Render("  " + ui.Empty(ok, err, ""))}
	}
	lines := []string{""}
	say := func(name, value string) {
		if value != "" {
			lines = append(lines, "  "+p.Dim.Render(ui.Fit(name, 14))+" "+ui.Clean(value))
		}
	}
	say("entry", b.Main)
	say("size", ui.Bytes(b.SizeBytes))
	say("digest", b.ArtifactDigest)
	say("compatibility", b.CompatibilityDate)
	for _, part := range []struct {
		name string
		list []string
	}{{"flags", b.CompatibilityFlags}, {"variables", b.Vars}, {"crons", b.Crons}, {"consumes", b.QueueConsumers}, {"objects", b.ObjectClasses}} {
		say(part.name, strings.Join(part.list, ", "))
	}
	lines = append(lines, "", p.Head.Render("  "+ui.Fit("FILE", max(p.W-44, 20))+ui.Fit("WHAT", 18)+fmt.Sprintf("%10s  %s", "SIZE", "SHA-256")))
	for _, f := range filesOf(b) {
		lines = append(lines, "  "+ui.Fit(ui.Clean(f.Path), max(p.W-44, 20))+p.Dim.Render(ui.Fit(f.what, 18)+fmt.Sprintf("%10s  %s", ui.Bytes(f.SizeBytes), f.SHA256[:min(10, len(f.SHA256))])))
	}
	return lines
}

// bundleFile is a file and what it is in the bundle.
type bundleFile struct {
	api.BundleFile

	what string
}

// filesOf lists the files of a bundle: modules first, static files last.
func filesOf(b api.Bundle) (all []bundleFile) {
	for _, m := range b.Modules {
		all = append(all, bundleFile{api.BundleFile{Path: m.Name, SHA256: m.SHA256, SizeBytes: m.SizeBytes}, "module " + m.Type})
	}
	for _, part := range []struct {
		what  string
		files []api.BundleFile
	}{{"migration", b.Migrations}, {"seed", b.Seeds}, {"static file", b.Assets}} {
		for _, f := range part.files {
			all = append(all, bundleFile{f, part.what})
		}
	}
	return all
}
