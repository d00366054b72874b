package tui

import (
	"time"

	"github.com/svcctl/svcctl/internal/client/tui/state"
	"github.com/svcctl/svcctl/pkg/api"
)

// fixture returns the answers of a small server.
func fixture() map[state.Need]any {
	staging := "staging"
	prod := api.Version{
		ID: "v7", ProjectID: "shop", Status: "ready", GitRef: "main", GitSHA: "0123456789abcdef", IsProduction: true, CreatedAt: ago(3 * time.Hour),
		Env: map[string]string{"API_KEY": "", "OLD": ""}, PreviewURL: "https://v7.shop.example.com", SizeBytes: 4711, LastRequestAt: maybeAgo(3 * time.Second),
		Runtime: &api.Runtime{State: "serving", Since: maybeAgo(time.Hour)}, ArtifactDigest: "sha256:00ff",
	}
	pr := api.Version{
		ID: "pr-8", ProjectID: "shop", Status: "ready", GitRef: "pull/8", GitSHA: "fedcba9876543210", CreatedAt: ago(time.Minute), ParentVersionID: &staging,
		ForkTXID: "128", Env: map[string]string{"API_KEY": "", "NEW": ""}, PreviewURL: "https://pr-8.shop.example.com", Pinned: true,
		Runtime: &api.Runtime{State: "serving"}, Warnings: []string{"main has no index on orders.customer"},
		Timeline: []api.StepRun{
			{Step: "fetching", Status: "done", StartedAt: ago(61 * time.Second), EndedAt: maybeAgo(60900 * time.Millisecond), Detail: "870 bytes"},
			{Step: "branching", Status: "done", StartedAt: ago(60900 * time.Millisecond), EndedAt: maybeAgo(60800 * time.Millisecond)},
			{Step: "preparing", Status: "done", StartedAt: ago(60800 * time.Millisecond), EndedAt: maybeAgo(60300 * time.Millisecond), Detail: "applied main/0003_index.sql"},
			{Step: "deploying", Status: "done", StartedAt: ago(60300 * time.Millisecond), EndedAt: maybeAgo(60 * time.Second)},
		},
	}
	failed := api.Version{
		ID: "pr-9", ProjectID: "shop", Status: "failed", GitRef: "pull/9", CreatedAt: ago(10 * time.Second), Error: "deploying: startup_exception: TypeError: x is not a function",
		ErrorStep: "deploying", ErrorCode: "startup_exception", ErrorOutput: "TypeError: x is not a function\n\tat index.ts:1:1",
		Timeline: []api.StepRun{{Step: "deploying", Status: "failed", StartedAt: ago(12 * time.Second), EndedAt: maybeAgo(10 * time.Second), Detail: "it \x1b[31mthrew"}},
	}
	list := []api.Version{
		failed, pr, prod,
		{ID: "staging", ProjectID: "shop", Status: "ready", GitRef: "staging", CreatedAt: ago(50 * time.Hour), Runtime: &api.Runtime{State: "backoff", Restarts: 3, LastError: "exited: 1"}},
		{ID: "v6", ProjectID: "shop", Status: "archived", GitRef: "main", CreatedAt: ago(20 * 24 * time.Hour)},
	}
	answers := map[state.Need]any{
		{Kind: state.Projects}: []api.Project{
			{ID: "shop", ProdVersionID: "v7", ProdURL: "https://shop.example.com", GitRemote: "git@example.com:acme/shop.git", CreatedAt: ago(30 * 24 * time.Hour), UpdatedAt: ago(2 * time.Hour)},
			{ID: "blog", CreatedAt: ago(time.Hour), UpdatedAt: ago(time.Hour)},
		},
		{Kind: state.Project, Project: "shop"}:  api.Project{ID: "shop", ProdVersionID: "pr-8", CreatedAt: ago(30 * 24 * time.Hour), UpdatedAt: ago(0)},
		{Kind: state.Versions, Project: "shop"}: list,
		{Kind: state.Versions, Project: "blog"}: []api.Version{},
		{Kind: state.Promotions, Project: "shop"}: []api.Promotion{
			{OperationID: "op", VersionID: "v7", PreviousVersionID: "v6", Status: "done", CreatedAt: ago(2 * time.Hour)},
		},
		{Kind: state.Promotions, Project: "blog"}: []api.Promotion{},
		{Kind: state.Routes}:                      []api.Route{{Host: "v7.shop.example.com", ProjectID: "shop", VersionID: "v7", Inflight: 2, RSSBytes: 90 << 20, PID: 4242}},
	}
	for _, v := range list {
		answers[state.Need{Kind: state.Version, Project: "shop", Version: v.ID}] = v
	}
	pr8 := state.Need{Project: "shop", Version: "pr-8"}
	pr8.Kind = state.Env
	answers[pr8] = map[string]string{"API_KEY": "hunter2", "NEW": "1"}
	pr8.Kind = state.Bindings
	answers[pr8] = []api.Binding{{Name: "DB", Kind: "database", Branched: true, ParentVersionID: &staging, ForkTXID: "128"}, {Name: "CACHE", Kind: "kv"}}
	return answers
}

// logLines returns entries of a log.
func logLines() []api.LogLine {
	return []api.LogLine{
		{Time: ago(5 * time.Second), Level: "info", Source: "request", RequestID: "79dd2d5a00000000", Message: "GET /ok 200 after 2ms"},
		{Time: ago(4 * time.Second), Level: "log", Source: "console", RequestID: "0af7651916cd43dd", Message: "request /boom { a: 1, b: [ 1, 2, 3 ] }"},
		{Time: ago(4 * time.Second), Level: "error", Source: "exception", RequestID: "0af7651916cd43dd", Message: "TypeError: boom in deep(x)\n\tat deep (src/index.ts:4:9)"},
		{Time: ago(4 * time.Second), Level: "error", Source: "request", RequestID: "0af7651916cd43dd", Message: "GET /boom 500 after 3ms"},
		{Time: ago(time.Second), Level: "info", Source: "request", RequestID: "1111111111111111", Message: "GET /\x1b]0;evil\x07 200 after 1ms"},
	}
}
