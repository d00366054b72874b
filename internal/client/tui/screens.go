package tui

import (
	"slices"

	"github.com/svcctl/svcctl/internal/client/tui/screen/activity"
	"github.com/svcctl/svcctl/internal/client/tui/screen/data"
	"github.com/svcctl/svcctl/internal/client/tui/screen/logs"
	"github.com/svcctl/svcctl/internal/client/tui/screen/projects"
	"github.com/svcctl/svcctl/internal/client/tui/screen/pulse"
	"github.com/svcctl/svcctl/internal/client/tui/screen/server"
	"github.com/svcctl/svcctl/internal/client/tui/screen/tree"
	"github.com/svcctl/svcctl/internal/client/tui/screen/version"
	"github.com/svcctl/svcctl/internal/client/tui/screen/versions"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
)

// kind describes a screen to the command line of the interface.
type kind struct {
	name, help string
	needs      string // "", "project" or "version"
	open       func(ui.Place) ui.Screen
}

// kinds lists the screens; the keys 1, 2 and so on open those that need nothing.
func kinds() []kind {
	return []kind{
		{"pulse", "health of the server and its projects", "", func(p ui.Place) ui.Screen { return pulse.New(p) }},
		{"projects", "the projects and their production", "", func(p ui.Place) ui.Screen { return projects.New(p) }},
		{"versions", "the versions of a project", "project", func(p ui.Place) ui.Screen { return versions.New(p) }},
		{"version", "one version: timeline, env, bindings and the rest", "version", func(p ui.Place) ui.Screen { return version.New(p) }},
		{"tree", "which version began with the data of which", "project", func(p ui.Place) ui.Screen { return tree.New(p) }},
		{"data", "databases, keys and objects of a version", "version", func(p ui.Place) ui.Screen { return data.New(p) }},
		{"activity", "running deploys, and what happened", "", func(p ui.Place) ui.Screen { return activity.New(p) }},
		{"server", "the server and its settings", "", func(p ui.Place) ui.Screen { return server.New(p) }},
		{"logs", "the log of a version, or of the production", "project", func(p ui.Place) ui.Screen { return logs.New(p) }},
	}
}

// global returns the screens that need nothing.
func global() []kind {
	return slices.DeleteFunc(kinds(), func(k kind) bool { return k.needs != "" })
}

// open makes the screen of a place; nil for an unknown one.
func open(p ui.Place) ui.Screen {
	all := kinds()
	i := slices.IndexFunc(all, func(k kind) bool { return k.name == p.Screen })
	if i < 0 {
		return nil
	}
	return all[i].open(p)
}
