package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/client/tui/remote"
	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// TestScreens compares each screen with its golden files, at three sizes.
func TestScreens(t *testing.T) {
	t.Parallel()
	logOf := state.Need{Kind: state.Logs, Project: "shop", Version: "v7"}
	shop := func(screen string) ui.Place { return ui.Place{Screen: screen, Project: "shop"} }
	of := func(screen, version, arg string) ui.Place {
		return ui.Place{Screen: screen, Project: "shop", Version: version, Arg: arg}
	}
	for name, tc := range map[string]struct {
		at   ui.Place
		keys string
		more func(*person)
	}{
		"projects":         {at: ui.Place{Screen: "projects"}},
		"projects-new":     {at: ui.Place{Screen: "projects"}, keys: "nnew-sh"},
		"versions":         {at: shop("versions"), keys: "<down><down><space>"},
		"versions-filter":  {at: shop("versions"), keys: "/pull !failed"},
		"versions-promote": {at: shop("versions"), keys: "<down><down>p"},
		"versions-release": {at: shop("versions"), keys: "<down><down>N"},
		"versions-destroy": {at: shop("versions"), keys: "<down>x"},
		"version":          {at: of("version", "pr-8", "")},
		"version-failed":   {at: of("version", "pr-9", "")},
		"version-env":      {at: of("version", "pr-8", "env"), keys: "v"},
		"version-bundle":   {at: of("version", "pr-8", "bundle")},
		"version-compare":  {at: of("version", "pr-8", ""), keys: "c"},
		"version-set":      {at: of("version", "pr-8", "env"), keys: "eagain"},
		"version-data":     {at: of("version", "pr-8", "data")},
		"version-bindings": {at: of("version", "pr-8", "bindings")},
		"version-process":  {at: of("version", "v7", "process")},
		"logs":             {at: of("logs", "v7", ""), more: func(p *person) { p.send(remote.Batch{state.Lines{Need: logOf, List: logLines()}}) }},
		"logs-marked": {at: of("logs", "v7", ""), more: func(p *person) {
			p.send(remote.Batch{state.Lines{Need: logOf, List: logLines()}})
			p.press("mJ")
		}},
		"logs-save":       {at: of("logs", "v7", ""), keys: "S"},
		"projects-delete": {at: ui.Place{Screen: "projects"}, keys: "x"},
		"pulse":           {at: ui.Place{Screen: "pulse"}},
		"tree":            {at: shop("tree")},
		"activity":        {at: ui.Place{Screen: "activity"}},
		"server":          {at: ui.Place{Screen: "server"}},
		"server-routes":   {at: ui.Place{Screen: "server"}, keys: "]"},
		"server-nodes":    {at: ui.Place{Screen: "server"}, keys: "]]"},
		"server-gateways": {at: ui.Place{Screen: "server", Arg: "gateways"}},
		"server-leases":   {at: ui.Place{Screen: "server"}, keys: "]]]]"},
		"server-tokens":   {at: ui.Place{Screen: "server"}, keys: "]]]]]"},
		"server-log": {at: ui.Place{Screen: "server"}, keys: "[", more: func(p *person) {
			p.send(remote.Batch{state.Lines{Need: state.Need{Kind: state.Logs}, List: []api.LogLine{
				{Time: ago(time.Minute), Level: "info", Source: "server", Cursor: "1", Message: "server started version=v1.2.3"},
				{Time: ago(time.Second), Level: "warn", Source: "server", Cursor: "2", Message: "node lease renewal failed; retrying node=node-a error=\"\x1b]0;evil\x07\""},
			}}})
		}},
		"data":          {at: of("data", "v7", "")},
		"data-rows":     {at: of("data", "v7", ""), keys: "<enter><enter>"},
		"data-sql":      {at: of("data", "v7", ""), keys: "QSELECT 1"},
		"data-value":    {at: of("data", "v7", ""), keys: "<down><enter><enter>"},
		"data-objects":  {at: of("data", "v7", ""), keys: "jj<enter>"},
		"data-diff":     {at: of("data", "v7", state.JoinArg("diff", "", ""))},
		"data-queue":    {at: of("data", "v7", ""), keys: "jjj<enter>"},
		"data-purge":    {at: of("data", "v7", ""), keys: "jjj<enter>x"},
		"data-workflow": {at: of("data", "v7", ""), keys: "G<enter>"},
		"data-instance": {at: of("data", "v7", ""), keys: "G<enter><enter>"},
		"help":          {at: shop("versions"), keys: "?"},
		"command":       {at: shop("versions"), keys: ":ver"},
		"offline": {at: shop("versions"), more: func(p *person) {
			p.send(remote.Batch{state.Link{Err: fmt.Errorf("the service does not answer"), At: now.Add(-20 * time.Second)}})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := sit(t, tc.at)
			p.press(tc.keys)
			if tc.more != nil {
				tc.more(p)
			}
			for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
				p.size(size[0], size[1])
				view := p.m.View()
				lines := strings.Split(view, "\n")
				for i, l := range lines {
					if ui.Width(l) > size[0] {
						t.Errorf("%v: line %d is %d wide: %s", size, i, ui.Width(l), l)
					}
					lines[i] = strings.TrimRight(l, " ")
				}
				if len(lines) != size[1] {
					t.Errorf("%v: %d lines", size, len(lines))
				}
				if strings.ContainsAny(view, "\x1b\x07") {
					t.Errorf("%v: a text of the server reaches the terminal unchanged", size)
				}
				svctest.Golden(t, fmt.Sprintf("testdata/%s-%dx%d.golden", name, size[0], size[1]), strings.Join(lines, "\n")+"\n")
			}
		})
	}
}
