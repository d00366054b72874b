package tui

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/svcctl/svcctl/internal/client/tui/remote"
	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/internal/client/tui/ui"
	"github.com/svcctl/svcctl/pkg/api"
)

func versionsOfShop(t *testing.T, change ...func(*state.State)) *person {
	t.Helper()
	return sit(t, ui.Place{Screen: "versions", Project: "shop"}, change...)
}

// wantDone fails the test unless exactly these actions were started, as "verb target".
func (p *person) wantDone(want ...string) {
	p.t.Helper()
	var got []string
	for _, a := range p.done {
		got = append(got, string(a.Verb)+" "+a.Target())
	}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		p.t.Errorf("done: %q, want %q", got, want)
	}
	p.done = nil
}

// TestActions: each action from its key to the request, and what is not done.
func TestActions(t *testing.T) {
	t.Parallel()
	p := versionsOfShop(t)
	p.press("<down><down>p")
	p.sees("Promote pr-8 of shop?", "v7 -> pr-8", "-OLD +NEW", "v7 stays ready", ": 41 new, 7 changed, 0 deleted", "KV keys: at least 2 new", "3 messages")
	p.press("n")
	p.sees("nothing was changed")
	p.wantDone()
	p.press("py")
	p.wantDone("promote shop/pr-8")
	p.sees("shop/pr-8 done")
	p.press("R")
	p.sees("v7 -> v6")
	p.press("y")
	p.wantDone("rollback shop/v6")
	p.press("P")
	p.wantDone("unpin shop/pr-8")
	p.press("<space><space>A") // pr-8 and staging
	p.wantDone("archive shop/pr-8", "archive shop/staging")
	p.press("GW")
	p.wantDone("wake shop/v6")
	p.press("x")
	p.press("v7<enter>")
	p.sees("That is not v6.")
	p.press("<back><back>v6<enter>")
	p.wantDone("destroy shop/v6")
	p.press("g<down><space><space>x")
	p.sees("Destroy 2 versions of shop?", "pr-9  pr-8")
	p.press("2<enter>")
	p.wantDone("destroy shop/pr-9", "destroy shop/pr-8")
	p.press("gp") // production is the first row
	p.sees("v7 is production already")
	p.press("x")
	p.sees("promote another version first")
	p.press("y")
	if p.copied != "https://v7.shop.example.com" {
		t.Errorf("copied %q", p.copied)
	}
	p.press("o")
	if p.browsed != "https://v7.shop.example.com" {
		t.Errorf("browsed %q", p.browsed)
	}
	p.press("O")
	p.sees("v7 has no preview name")
	p.press("<down><down>O")
	if p.browsed != "https://cart.shop.example.com" {
		t.Errorf("browsed %q", p.browsed)
	}
	p.press("g")
	p.failWith = errors.New("the disk of the server is full")
	p.press("A")
	p.sees("archive shop/v7: the disk of the server is full")
	p.wantDone("archive shop/v7")
}

// TestReadOnly: nothing is changed, and the interface says why.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	p := versionsOfShop(t, func(s *state.State) { s.ReadOnly = true })
	for _, k := range []string{"<down><down>p", "A", "<down>x", "R", "P"} {
		p.press(k)
		p.sees("read-only:")
		p.press("<esc>:versions shop<enter>")
	}
	p.wantDone()
}

// TestNarrowed: the first line says that rows are left out.
func TestNarrowed(t *testing.T) {
	t.Parallel()
	p := versionsOfShop(t)
	p.press("FFF")
	p.sees("shop › versions  only failed", "showing failed versions", "pr-9")
	p.lacks("staging")
	p.press("/nothing<enter>")
	p.sees("shop › versions  only failed  filter /nothing", "nothing matches the filter")
	p.press("<esc>FFF")
	p.sees("showing all versions", "staging")
	p.lacks("only failed")
}

// TestCommandFromTheKeys: a command can be typed while the keys are shown; other keys close them.
func TestCommandFromTheKeys(t *testing.T) {
	t.Parallel()
	p := versionsOfShop(t)
	p.press("?:tree shop<enter>")
	p.sees("shop › tree")
	p.press("?2")
	p.sees("svcctl  projects")
	p.press("?x")
	p.sees("svcctl  projects", "PRODUCTION")
	p.lacks("Delete")
	p.wantDone()
}

// TestMoving: through screens and back, by keys and commands.
func TestMoving(t *testing.T) {
	t.Parallel()
	p := sit(t, ui.Place{Screen: "projects"})
	p.press("<enter>")
	p.sees("shop › versions", "pr-9")
	p.press("<down><down><enter>]")
	p.sees("shop › pr-8 › version", "[logs]")
	if !p.follows[state.Need{Kind: state.Logs, Project: "shop", Version: "pr-8"}] {
		t.Error("the log is not followed")
	}
	p.press("<esc><esc>")
	p.sees("svcctl  projects")
	if len(p.follows) != 0 {
		t.Errorf("still followed: %v", p.follows)
	}
	p.press(":versi<tab>")
	p.sees(":version ") // versions begins so, too
	p.press("s<tab>")
	p.press(" sh<tab><enter>")
	p.sees("shop › versions")
	p.press(":version shop/p<tab>8<enter>")
	p.sees("shop › pr-8 › version")
	p.press(":logs<enter>")
	p.sees("shop › pr-8 › logs")
	p.press(":nothing<enter>")
	p.sees("unknown command :nothing")
	p.m.state.Contexts = nil
	p.press(":ctx nowhere<enter>")
	p.sees("there is no context: svcctl login URL makes one")
	p.m.state.Contexts = []string{"laptop", "production"}
	p.press(":ctx nowhere<enter>")
	p.sees("there is no context nowhere")
	p.press(":ctx production<enter>")
	p.sees("https://other.example.com", "connecting")
	p.send(remote.Batch{state.Link{Up: true, At: now}})
	p.sees("shop", "blog")
	p.press(":projects<enter>?")
	p.sees("this screen", ":versions PROJECT", "j and k scroll: lines 1 to 19")
	p.press("jj<esc>/blog<enter>")
	p.lacks("★ v7")
	p.press("<esc>")
	p.sees("★ v7")
	p.send(tea.MouseMsg{Y: 4, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
	p.press("<enter>")
	p.sees("blog › versions", "no version yet")
}

// TestEvents: what happens on the server is shown without reading the lists again.
func TestEvents(t *testing.T) {
	t.Parallel()
	p := versionsOfShop(t)
	p.loads = nil
	p.answers[state.Need{Kind: state.Version, Project: "shop", Version: "new"}] = api.Version{ID: "new", ProjectID: "shop", Status: "fetching", CreatedAt: ago(0)}
	p.event("version.created", "shop", "new", api.EventData{Status: "pending"})
	p.sees("◌ fetching")
	p.answers[state.Need{Kind: state.Version, Project: "shop", Version: "v6"}] = api.Version{ID: "v6", ProjectID: "shop", Status: "destroyed"}
	p.event("version.destroyed", "shop", "v6", api.EventData{Status: "destroyed"})
	p.lacks("v6")
	p.event("version.created", "blog", "one", api.EventData{Status: "pending"}) // not shown
	p.event("project.production", "shop", "pr-8", api.EventData{Previous: "v7"})
	if got := fmt.Sprint(p.loads); strings.Contains(got, "{versions") || strings.Contains(got, "blog") {
		t.Errorf("read: %s", got)
	}
	p.sees("pr-8               ● ready        ★    pinned")
	p.size(120, 24)
	p.sees("90.0 MiB")
	archived := p.answers[state.Need{Kind: state.Version, Project: "shop", Version: "v7"}].(api.Version) //nolint:forcetypeassert // of the fixture
	archived.Status = "archived"
	p.answers[state.Need{Kind: state.Version, Project: "shop", Version: "v7"}] = archived
	p.event("version.archived", "shop", "v7", api.EventData{Status: "archived", Previous: "ready"})
	p.lacks("90.0 MiB") // also before it is measured again
	p.loads = nil
	var burst []api.Event
	for i := range 100 {
		burst = append(burst, api.Event{Type: "version.status", ProjectID: "shop", VersionID: fmt.Sprintf("n%d", i), Data: api.EventData{Status: "pending"}})
	}
	p.send(remote.Batch{state.Events{List: burst}})
	p.send(flush{})
	if got := fmt.Sprint(p.loads); got != "[{versions shop  }]" {
		t.Errorf("after a burst: %s", got)
	}
}

// TestLink: the interface says since when it is old, and reads again what it missed.
func TestLink(t *testing.T) {
	t.Parallel()
	p := versionsOfShop(t)
	p.loads = nil
	p.send(remote.Batch{state.Link{Err: errors.New("refused"), At: now}})
	p.send(remote.Batch{state.Link{Err: errors.New("refused"), At: now.Add(time.Second)}})
	p.send(tick(now.Add(4 * time.Second)))
	p.sees("no answer for 4s: what is shown is of 07:16:30", "v7")
	p.send(remote.Batch{state.Link{Up: true, At: now.Add(5 * time.Second)}})
	p.lacks("no answer")
	if len(p.loads) != 0 { // the stream has continued: nothing is missing
		t.Errorf("read: %v", p.loads)
	}
	p.send(remote.Batch{state.Link{Up: true, Resync: true, At: now.Add(6 * time.Second)}})
	if len(p.loads) == 0 {
		t.Error("nothing is read again after events are missing")
	}
}

// TestNoFirstAnswer: the interface says that a server has not answered yet.
func TestNoFirstAnswer(t *testing.T) {
	t.Parallel()
	p := versionsOfShop(t)
	p.m.linked = false
	p.send(tick(now.Add(4 * time.Second)))
	p.sees("connecting …")
	p.send(tick(now.Add(7 * time.Second)))
	p.sees("no answer for 7s; connecting")
}

// TestLogs: following, pausing, levels, one request, the next error.
func TestLogs(t *testing.T) {
	t.Parallel()
	p := sit(t, ui.Place{Screen: "logs", Project: "shop", Version: "v7"})
	need := state.Need{Kind: state.Logs, Project: "shop", Version: "v7"}
	more := func(text string) {
		p.send(remote.Batch{state.Lines{Need: need, List: []api.LogLine{{Time: ago(0), Level: "info", RequestID: "aaaa", Message: text}}}})
	}
	p.send(remote.Batch{state.Lines{Need: need, List: logLines()}})
	for i := range 40 {
		more(fmt.Sprintf("line %02d end", i))
	}
	p.sees("line 39 end", "following")
	p.press("<pgup>")
	p.lacks("line 39 end")
	p.sees("paused, 19 below")
	p.press("f")
	p.sees("line 39 end")
	p.press("LLL")
	p.sees("TypeError: boom", "level error and above")
	p.lacks("line 39 end")
	p.press("<enter>")
	p.press("L")
	p.sees("request /boom", "request 0af7651916cd43dd")
	p.lacks("GET /ok")
	p.press("<esc>n")
	p.sees("paused", "GET /boom 500")
	p.press("f/LINE 07<enter>")
	p.sees("line 07 end")
	p.lacks("line 08 end")
	p.press("y")
	if p.copied != "line 07 end" {
		t.Errorf("copied %q", p.copied)
	}
}

// TestData: tables, pages, SQL that reads and SQL that writes, keys and values.
func TestData(t *testing.T) {
	t.Parallel()
	p := sit(t, ui.Place{Screen: "data", Project: "shop", Version: "v7"})
	p.sees("DB", "CACHE", "FILES", "20.0 KiB")
	p.press("<enter>")
	p.sees("orders", "id, customer")
	p.press("<enter>")
	p.sees("ada", "NULL", "n next page")
	p.press("n")
	p.sees("bob", "N page before")
	p.press("N")
	p.sees("ada")
	p.press("QSELECT 1<enter>")
	p.sees("DB › SELECT 1")
	p.press("<esc><esc><esc>")
	p.sees("CACHE")
	p.press("QDELETE FROM orders<enter>") // only reads: the server refuses it
	p.sees("the service does not answer")
	p.press("<esc>Q!DELETE FROM orders<enter>")
	p.sees("Change the data of shop/v7?", "DELETE FROM orders")
	p.press("n")
	p.wantDone()
	p.press("Q!DELETE FROM orders<enter>y")
	p.wantDone("write shop/v7")
	p.press("<down><enter><enter>")
	p.sees("hello", "world")
	p.press("y")
	if p.copied != "hello\nworld" {
		t.Errorf("copied %q", p.copied)
	}
}

// TestPulseRoom: the first screen says when the disk is almost full or the object store is far
// behind, and charts the memory that it has measured.
func TestPulseRoom(t *testing.T) {
	t.Parallel()
	p := sit(t, ui.Place{Screen: "pulse"})
	p.sees("disk 30.0 GiB of 40.0 GiB free   data behind 0s")
	full := p.answers[state.Need{Kind: state.Server}].(api.Server) //nolint:forcetypeassert // of the fixture
	full.State.DiskFreeBytes, full.State.DataBehindSeconds = 1<<30, 90
	p.answers[state.Need{Kind: state.Server}] = full
	p.send(tick(now.Add(31 * time.Second)))
	p.sees("disk 1.0 GiB of 40.0 GiB free   data behind 90s", "! disk almost full  1.0 GiB free: svcctl admin gc")
	if n := len(p.m.state.Memory); n != 2 {
		t.Errorf("%d samples of the memory", n)
	}
}

// TestLastRequest: the versions show the last request as the routes measure it.
func TestLastRequest(t *testing.T) {
	t.Parallel()
	p := sit(t, ui.Place{Screen: "versions", Project: "shop"})
	need := state.Need{Kind: state.Routes, Project: "shop"}
	routes := slices.Clone(p.answers[need].([]api.Route)) //nolint:forcetypeassert // of the fixture
	routes[1].LastRequestAt = maybeAgo(-4 * time.Second)
	p.answers[need] = routes
	p.send(tick(now.Add(5 * time.Second)))
	if row := regexp.MustCompile(`(?m)^.v7 .*$`).FindString(p.m.View()); !strings.Contains(row, " 1s ") {
		t.Errorf("v7: %q", row)
	}
}

// TestChartKeepsTheNewest: a narrow column shows the newest samples of a chart.
func TestChartKeepsTheNewest(t *testing.T) {
	t.Parallel()
	p := sit(t, ui.Place{Screen: "pulse"})
	if row := regexp.MustCompile(`(?m)^.shop .*$`).FindString(p.m.View()); !strings.HasSuffix(strings.TrimRight(row, " "), "▁▃▄") || strings.Contains(row, "…") {
		t.Errorf("shop: %q", row)
	}
}

// TestServerRoutes: the screen of the server lists the host names, and opens what serves one.
func TestServerRoutes(t *testing.T) {
	t.Parallel()
	p := sit(t, ui.Place{Screen: "server"})
	p.sees("[settings]", "SVC_ADMIN_TOKEN")
	p.press("]")
	p.sees("[routes]", "v7.shop.example.com", "shop/v7", "serving")
	p.press("/nowhere<enter>")
	p.press("<esc>[")
	p.sees("SVC_ADMIN_TOKEN")
	p.press("]y")
	if p.copied != "v7.shop.example.com" {
		t.Errorf("copied %q", p.copied)
	}
	p.press("<enter>")
	p.sees("shop › v7 › version", "[process]")
}

// TestServerNodes: the screen of the server lists machines and gateways, opens what one machine
// runs, and a machine is not older for the time since the answer.
func TestServerNodes(t *testing.T) {
	t.Parallel()
	p := sit(t, ui.Place{Screen: "server", Arg: "nodes"})
	p.sees("[nodes]", ">m1", "kube-1")
	p.press("<enter>")
	p.sees("m1 runs shop/pr-8, shop/staging")
	p.press("G<enter>")
	p.sees("svcctl-host-x9k runs no version")
	p.loads = nil
	p.send(tick(now.Add(4 * time.Second)))
	p.press("/v7<enter>")
	if row := regexp.MustCompile(`(?m)^>svcctl-host-7d4.*$`).FindString(p.m.View()); len(p.loads) != 0 || !strings.Contains(row, " 90.0 MiB       1s") {
		t.Errorf("after 4 s: %q, read %v", row, p.loads)
	}
	p.press("y")
	if p.copied != "svcctl-host-7d4[2J" {
		t.Errorf("copied %q", p.copied)
	}
	p.press("<enter>")
	p.sees("shop › v7 › version", "[process]", "svcctl-host-7d4[2J on kube-2")
	p.press("<esc><esc>]")
	p.sees("[gateways]", "behind by 2", "away for 12m")
	p.loads = nil
	p.send(tick(now.Add(6 * time.Second)))
	if got := fmt.Sprint(p.loads); got != "[{gateways   }]" {
		t.Errorf("read after 5 s: %s", got)
	}
	p.answers[state.Need{Kind: state.Nodes}] = []api.Node{}
	p.press("[r")
	p.sees("no machine has joined")
}

// TestServerNodesPlain: for a screen reader each machine is a line that names its columns.
func TestServerNodesPlain(t *testing.T) {
	t.Parallel()
	p := sit(t, ui.Place{Screen: "server", Arg: "nodes"})
	got := p.plainly("]", "q")
	for _, want := range []string{
		"selected 1. m1, versions 2, spares 1, memory 140.0 MiB, answered 8s, runs shop/pr-8, shop/staging",
		"2. svcctl-host-7d4[2J, node kube-2, versions 1, spares 0, memory 90.0 MiB, answered 1s, runs shop/v7",
		"2. edge-1[2J, listens at 0.0.0.0:8787, state behind by 2, generation 38, requests 70, in flight 3, ws 1, release v1.2.2",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q:\n%s", want, got)
		}
	}
}

// TestOverview: the screens of the whole server, by their numbers.
func TestOverview(t *testing.T) {
	t.Parallel()
	p := sit(t, ui.Place{Screen: "pulse"})
	p.sees("v1.2.3", "registry ● 0.1ms", "! does not serve  shop/staging", "✗ failed 10s ago  shop/pr-9", "12.1/s")
	p.loads = nil
	p.send(tick(now.Add(3 * time.Second)))
	if len(p.loads) != 0 {
		t.Errorf("read after 3 s: %v", p.loads)
	}
	p.send(tick(now.Add(5 * time.Second)))
	if got := fmt.Sprint(p.loads); got != "[{health   } {traffic   } {summaries   }]" {
		t.Errorf("read after 5 s: %s", got)
	}
	p.press("a")
	p.sees("shop › pr-9 › version")
	p.press("3")
	p.sees("◌ waits, place 1", "shop/pr-11", "became production (was v6)")
	p.event("version.pinned", "shop", "v7", api.EventData{})
	p.press("K")
	p.sees("Cancel the deploy of shop/pr-10?")
	p.press("y")
	p.wantDone("destroy shop/pr-10")
	p.event("version.step", "shop", "pr-11", api.EventData{Step: "fetching", StepStatus: "running"})
	p.lacks("fetching")
	p.event("version.created", "shop", "pr-11", api.EventData{Status: "pending", GitRef: "pull/11"})
	p.sees("is being deployed from pull/11")
	p.press("/version.created<enter>K") // on what happened in the deploy
	p.sees("activity  filter /version.created", "Cancel the deploy of shop/pr-11?")
	p.press("n<esc>")
	p.event("audit", "shop", "v7", api.EventData{Action: "promoteVersion", Actor: "ci", Status: "409"})
	p.sees("ci tried to promote shop/v7: 409 Conflict")
	p.event("audit", "shop", "v7", api.EventData{Action: "promoteVersion", Actor: "robot", Status: "202"})
	p.lacks("robot") // the end of the promote says it
	p.press("4")
	p.sees("PLATFORM_PORT", "(hidden)")
	p.press("1")
	p.sees("REQ/S")
	p.event("gc.done", "", "", api.EventData{Status: "failed", Error: "the object store does not answer"})
	p.sees("! gc failed 5s ago", "the object store does not answer")
	p.event("gc.done", "", "", api.EventData{Status: "done"})
	p.lacks("gc failed")
	p.press(":tree shop<enter>")
	p.sees("staging", "└─ pr-8")
	p.sees("measured 17s ago", "5.0 MiB", "- destroyed")
}

// BenchmarkKey is a key in a list of 1,000 versions while events arrive.
func BenchmarkKey(b *testing.B) {
	p := sit(&testing.T{}, ui.Place{Screen: "projects"})
	list := make([]api.Version, 1000)
	for i := range list {
		list[i] = api.Version{ID: fmt.Sprintf("v%04d", i), ProjectID: "shop", Status: "ready", CreatedAt: ago(time.Duration(i) * time.Minute)}
	}
	p.answers[state.Need{Kind: state.Versions, Project: "shop"}] = list
	p.press("<enter>")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		p.send(remote.Batch{state.Events{List: []api.Event{{Type: "version.status", ProjectID: "shop", VersionID: list[i%1000].ID, Data: api.EventData{Status: "draining"}}}}})
		p.press("j")
		_ = p.m.View()
	}
}

// TestLongNote: an error that is longer than the screen is wide is shown with its hint.
func TestLongNote(t *testing.T) {
	t.Parallel()
	p := versionsOfShop(t)
	p.failWith = errors.New("version shop/v7 is production: it cannot be archived: promote another version first, and archive this one after it")
	p.press("A")
	p.sees("archive shop/v7: version", "after it", "enter details")
	if n := strings.Count(p.m.View(), "\n") + 1; n != 24 {
		t.Errorf("%d lines", n)
	}
	p.press("j")
	p.lacks("after it")
}

// TestReadOnlyFooter: the keys that --read-only refuses are not offered.
func TestReadOnlyFooter(t *testing.T) {
	t.Parallel()
	for _, at := range []ui.Place{
		{Screen: "projects"},
		{Screen: "activity"},
		{Screen: "versions", Project: "shop"},
		{Screen: "tree", Project: "shop"},
		{Screen: "version", Project: "shop", Version: "pr-8"},
		{Screen: "version", Project: "shop", Version: "pr-8", Arg: "env"},
		{Screen: "data", Project: "shop", Version: "v7", Arg: state.JoinArg("kv", "CACHE", "")},
		{Screen: "data", Project: "shop", Version: "v7", Arg: state.JoinArg("queue", "jobs", "")},
		{Screen: "data", Project: "shop", Version: "v7", Arg: state.JoinArg("workflow", "ORDER", "")},
	} {
		read := func(s *state.State) { s.ReadOnly = true }
		for _, k := range sit(t, at, read).m.top().screen.Keys() {
			p := sit(t, at, read)
			p.size(400, 24)
			name := k.Help().Key
			short, _, _ := strings.Cut(k.Help().Desc, ";")
			offered := strings.Contains(p.m.footer(), " "+name+" "+short+" ")
			if name == "enter" {
				name = "<enter>"
			}
			p.press(name)
			if p.m.dialog != nil { // it asks for a text first
				p.press("A=B<enter>")
			}
			if strings.Contains(p.m.View(), "read-only: start") && offered {
				t.Errorf("%v: %s %s is offered, and refused", at, name, short)
			}
		}
	}
}
