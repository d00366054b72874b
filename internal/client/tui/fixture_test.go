package tui

import (
	"fmt"
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
		Runtime: &api.Runtime{State: "serving", Since: maybeAgo(time.Hour), Node: "svcctl-host-7d4\x1b[2J", ClusterNode: "kube-2"}, ArtifactDigest: "sha256:00ff",
	}
	pr := api.Version{
		ID: "pr-8", ProjectID: "shop", Status: "ready", GitRef: "pull/8", GitSHA: "fedcba9876543210", CreatedAt: ago(time.Minute), ParentVersionID: &staging,
		ForkTXID: "128", Env: map[string]string{"API_KEY": "", "NEW": ""}, PreviewURL: "https://pr-8.shop.example.com", Pinned: true,
		PreviewName: "cart", PreviewNameURL: "https://cart.shop.example.com",
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
		{Kind: state.Routes, Project: "shop"}: []api.Route{
			{Host: "v7.shop.example.com", ProjectID: "shop", VersionID: "v7", State: "serving", Inflight: 2, RSSBytes: 90 << 20, PID: 4242},
			{Host: "shop.example.com", ProjectID: "shop", VersionID: "v7", State: "serving", Inflight: 9, Websockets: 4, RSSBytes: 90 << 20, PID: 4242},
		},
		{Kind: state.Routes, Project: "blog"}: []api.Route{},
	}
	answers[state.Need{Kind: state.Routes}] = answers[state.Need{Kind: state.Routes, Project: "shop"}]
	overview(answers, failed)
	dataOf(answers)
	for _, v := range list {
		answers[state.Need{Kind: state.Version, Project: "shop", Version: v.ID}] = v
	}
	pr8 := state.Need{Project: "shop", Version: "pr-8"}
	pr8.Kind = state.Env
	answers[pr8] = []api.EnvEntry{
		{Key: "API_KEY", Value: "hunter2", Source: api.EnvSourceOverride, Shadowed: []api.EnvSource{api.EnvSourceBundle}},
		{Key: "NEW", Value: "1", Source: api.EnvSourceBundle},
		{Key: "SVC_VERSION_ID", Value: "pr-8", Source: api.EnvSourcePlatform},
	}
	bundleOf(answers)
	answers[state.Need{Kind: state.Plan, Project: "shop", Version: "pr-8"}] = api.PromotionPlan{
		ProjectID: "shop", VersionID: "pr-8", ProductionVersionID: "v7", Status: api.VersionStatusReady, Waiting: &api.WaitingWork{Messages: 3},
		Unmerged: &api.Unmerged{
			CommonVersionID: "v7", ForkedAt: maybeAgo(time.Hour), Keys: api.WrittenRecords{Inserted: 2, AtLeast: true},
			Tables: []api.UnmergedTable{{Database: "main", Table: "orders\x1b[2J", Inserted: 41, Updated: 7}},
		},
	}
	answers[state.Need{Kind: state.ReleasePlan, Project: "shop", Version: "pr-8"}] = api.ReleasePlan{
		ProjectID: "shop", VersionID: "pr-8", ProductionVersionID: "v7", Status: api.VersionStatusReady, ExpectedHoldMs: 120, MaxHoldMs: 4000,
		Migrations: []string{"main/0003_index\x1b[2J.sql"}, Own: api.Unmerged{CommonVersionID: "v7", Keys: api.WrittenRecords{Inserted: 2}}, Waiting: api.WaitingWork{Messages: 3, Instances: 1},
	}
	pr8.Kind = state.Bindings
	answers[pr8] = []api.Binding{{Name: "DB", Kind: "database", Branched: true, ParentVersionID: &staging, ForkTXID: "128"}, {Name: "CACHE", Kind: "kv"}}
	return answers
}

// bundleOf adds the bundle of pr-8 and how it differs from that of production.
func bundleOf(answers map[state.Need]any) {
	answers[state.Need{Kind: state.Bundle, Project: "shop", Version: "pr-8"}] = api.Bundle{
		VersionID: "pr-8", Main: "index.js", SizeBytes: 4711, ArtifactDigest: "sha256:00ff", CompatibilityDate: "2026-11-01", CompatibilityFlags: []string{"nodejs_compat"},
		Vars: []string{"API_KEY", "NEW"}, Crons: []string{"*/5 * * * *"}, QueueConsumers: []string{"jobs"}, ObjectClasses: []string{"Room"},
		Modules:    []api.BundleModule{{Name: "index.js", Type: "esm", SizeBytes: 8192, SHA256: "0123456789abcdef"}},
		Migrations: []api.BundleFile{{Path: "main/0003_index.sql", SizeBytes: 120, SHA256: "ff00"}}, Assets: []api.BundleFile{{Path: "logo\x1b[2J.svg", SizeBytes: 2048, SHA256: "aa"}},
	}
	answers[state.Need{Kind: state.Compare, Project: "shop", Version: "pr-8"}] = api.Comparison{
		From: api.ComparedVersion{VersionID: "v7"}, To: api.ComparedVersion{VersionID: "pr-8"}, Differences: []api.Difference{
			{What: api.DifferenceWhatModule, Name: "index.js", Change: api.DifferenceChangeChanged, Before: "esm", BeforeBytes: 8000, After: "esm", AfterBytes: 8192},
			{What: api.DifferenceWhatMigration, Name: "main/0003_index.sql", Change: api.DifferenceChangeAdded, AfterBytes: 120},
			{What: api.DifferenceWhatVar, Name: "OLD", Change: api.DifferenceChangeRemoved, Before: "bundle"},
		},
	}
	answers[state.Need{Kind: state.Compare, Project: "shop", Version: "pr-8", Arg: "v6"}] = api.Comparison{
		From: api.ComparedVersion{VersionID: "v6"}, To: api.ComparedVersion{VersionID: "pr-8"},
	}
}

// logLines returns entries of a log.
func logLines() []api.LogLine {
	list := []api.LogLine{
		{Time: ago(6 * time.Second), Level: "log", Source: "console", RequestID: "79dd2d5a00000000", Message: `{"cart":{"items":[1,2]}}`},
		{Time: ago(5 * time.Second), Level: "info", Source: "request", RequestID: "79dd2d5a00000000", Message: "GET /ok 200 after 2ms"},
		{Time: ago(4 * time.Second), Level: "log", Source: "console", RequestID: "0af7651916cd43dd", Message: "request /boom { a: 1, b: [ 1, 2, 3 ] }"},
		{Time: ago(4 * time.Second), Level: "error", Source: "exception", RequestID: "0af7651916cd43dd", Message: "TypeError: boom in deep(x)\n\tat deep (src/index.ts:4:9)"},
		{Time: ago(4 * time.Second), Level: "error", Source: "request", RequestID: "0af7651916cd43dd", Message: "GET /boom 500 after 3ms"},
		{Time: ago(time.Second), Level: "info", Source: "request", RequestID: "1111111111111111", Message: "GET /\x1b]0;evil\x07 200 after 1ms"},
	}
	for i := range list {
		list[i].Cursor = fmt.Sprint("c", i)
	}
	return list
}

// overview adds what the whole server has.
func overview(answers map[state.Need]any, failed api.Version) {
	traffic := func(project string, n int64) api.Traffic {
		t := api.Traffic{ProjectID: project, Requests: 30 * n, Errors: n / 4, Exceptions: n / 40, Bytes: (40 << 10) * n, P50Ms: 2, P95Ms: 9.4}
		for i := range int64(60) {
			t.Samples, t.ErrorSamples = append(t.Samples, i%7*n), append(t.ErrorSamples, i/50*n)
			if project == "" {
				t.P95Samples = append(t.P95Samples, float64(i%5))
			}
		}
		return t
	}
	answers[state.Need{Kind: state.Traffic}] = api.MetricsSummary{
		WindowSeconds: 300, SampleSeconds: 5, Total: traffic("", 121), Projects: []api.Traffic{traffic("shop", 121)},
		Versions: []api.Traffic{{ProjectID: "shop", VersionID: "v7", Requests: 3000, Errors: 30, Exceptions: 3, Bytes: 5 << 20}},
	}
	answers[state.Need{Kind: state.Health}] = api.DeepHealth{Status: "degraded", Checks: api.HealthChecks{
		Registry: api.PartHealth{Status: "ok", LatencyMs: 0.12}, Store: api.PartHealth{Status: "ok", LatencyMs: 1.2},
		Queue: api.QueueHealth{Status: "ok", PendingJobs: 2, QueueMax: 100}, Versions: api.VersionsHealth{Status: "degraded", NotServing: []string{"shop/staging"}},
	}}
	answers[state.Need{Kind: state.Server}] = api.Server{
		Version: "v1.2.3", StartedAt: ago(72 * time.Hour), APIURL: "https://deploy.example.com", GatewayURL: "https://example.com",
		PreviewURLTemplate: "{version}.{project}.example.com", QueueMax: 100, MaxUploadBytes: 64 << 20,
		State:    api.ServerState{DiskTotalBytes: 40 << 30, DiskFreeBytes: 30 << 30, DataBehindSeconds: 0.4, ObjectStore: "https://s3.example.com", WorkerdVersion: "workerd 2026-11-17"},
		Tokens:   []api.ServerToken{{Name: "admin", Role: "admin", Fingerprint: "01234567"}, {Name: "board", Role: "read", Fingerprint: "89abcdef", ExpiresAt: ago(-24 * time.Hour)}},
		Settings: []api.Setting{{Name: "SVC_ADMIN_TOKEN", Value: "(hidden)", Source: "environment"}, {Name: "PLATFORM_PORT", Value: "8790", Source: "default"}},
	}
	answers[state.Need{Kind: state.Leases}] = api.LeasePage{
		LeaseTTLSeconds: 15, Nodes: []api.NodeLease{{Node: "node-a", Session: "one", ThisServer: true, RenewedAt: ago(2 * time.Second)}, {Node: "node-b\x1b[2J", Released: true}},
		Items: []api.DataOwner{
			{ProjectID: "shop", VersionID: "v7", Status: "ready", Data: "live", Node: "node-a", Session: "one", ThisServer: true, Epoch: 3, TakenOver: true, ChangedAt: ago(time.Hour)},
			{ProjectID: "shop", VersionID: "staging", Status: "ready", Data: "live", Node: "node-c", Session: "two", Epoch: 1, ChangedAt: ago(50 * time.Hour)},
			{ProjectID: "shop", VersionID: "v6", Status: "archived", Data: "archived", Epoch: 8, ChangedAt: ago(20 * 24 * time.Hour)},
		},
	}
	answers[state.Need{Kind: state.Nodes}] = []api.Node{
		{Name: "m1", ID: "a1", Spares: 1, Versions: []string{"shop/pr-8", "shop/staging"}, RSSBytes: 140 << 20, AnsweredAt: ago(8 * time.Second)},
		{Name: "svcctl-host-7d4\x1b[2J", ID: "a2", Node: "kube-2", Versions: []string{"shop/v7"}, RSSBytes: 90 << 20, AnsweredAt: ago(time.Second)},
		{Name: "svcctl-host-x9k", ID: "a3", Node: "kube-1", Spares: 1, RSSBytes: 12 << 20, AnsweredAt: ago(0)},
	}
	answers[state.Need{Kind: state.Gateways}] = []api.Gateway{
		{Name: "server", Own: true, Address: "127.0.0.1:8787", Listens: "127.0.0.1:8787", Version: "v1.2.3", Connected: true, Generation: 40, Requests: 1200},
		{Name: "edge-1\x1b[2J", Address: "10.0.0.2:40000", Listens: "0.0.0.0:8787", Version: "v1.2.2", Connected: true, ReportedAt: maybeAgo(time.Second), Generation: 38, Behind: 2, Requests: 70, Inflight: 3, Websockets: 1},
		{Name: "edge-2", Address: "10.0.0.3:40000", ReportedAt: maybeAgo(12 * time.Minute)},
		{Name: "edge-3", Address: "10.0.0.4:40000"},
	}
	failed.UpdatedAt = ago(10 * time.Second)
	answers[state.Need{Kind: state.Broken}] = []api.Version{failed}
	answers[state.Need{Kind: state.Queue}] = api.DeployQueue{Max: 100, Items: []api.QueuedDeploy{
		{ProjectID: "shop", VersionID: "pr-10", Status: "preparing", Running: true, QueuedAt: ago(3 * time.Second)},
		{ProjectID: "shop", VersionID: "pr-11", Status: "pending", Position: 1, QueuedAt: ago(2 * time.Second)},
	}}
	answers[state.Need{Kind: state.History}] = []api.Event{
		{ID: 1, Type: "server.started", Time: ago(72 * time.Hour)},
		{ID: 2, Type: "version.status", Time: ago(10 * time.Second), ProjectID: "shop", VersionID: "pr-9", Data: api.EventData{Status: "failed", Previous: "deploying", Error: failed.Error}},
		{ID: 3, Type: "promotion.done", Time: ago(2 * time.Second), ProjectID: "shop", VersionID: "v7", Data: api.EventData{Status: "done", Previous: "v6"}},
	}
	answers[state.Need{Kind: state.Summaries}] = []api.Project{
		{ID: "shop", Summary: &api.ProjectSummary{
			Versions: map[string]int{"ready": 3, "failed": 1, "archived": 1}, MemoryBytes: 90 << 20, ProductionSince: maybeAgo(2 * time.Hour), Traffic: traffic("shop", 121),
			LastDeploy: &api.LastDeploy{VersionID: "pr-9", Status: "failed", GitRef: "pull/9", CreatedAt: ago(10 * time.Second)},
		}},
		{ID: "blog", Summary: &api.ProjectSummary{}},
	}
	staging := "staging"
	answers[state.Need{Kind: state.Branches, Project: "shop"}] = api.BranchTree{MeasuredAt: maybeAgo(12 * time.Second), Items: []api.Branch{
		{VersionID: "v5", Status: "destroyed", CreatedAt: ago(60 * time.Hour), Sizes: &api.BranchSizes{Kept: api.ObjectAmount{Bytes: 1 << 20}}, Children: 1},
		{VersionID: "staging", Status: "ready", CreatedAt: ago(50 * time.Hour), Sizes: &api.BranchSizes{Own: api.ObjectAmount{Bytes: 5 << 20}, Exclusive: api.ObjectAmount{Bytes: 4 << 20}}},
		{VersionID: "pr-8", Status: "ready", ParentVersionID: &staging, CreatedAt: ago(time.Minute), Sizes: &api.BranchSizes{
			Own: api.ObjectAmount{Bytes: 700}, Shared: api.ObjectAmount{Bytes: 1 << 20}, Exclusive: api.ObjectAmount{Bytes: 700},
		}},
	}}
}

// dataOf adds the data of v7.
func dataOf(answers map[state.Need]any) {
	of := func(kind state.Kind, arg ...string) state.Need {
		return state.Need{Kind: kind, Project: "shop", Version: "v7", Arg: state.JoinArg(arg...)}
	}
	next, rows := "page-2", int64(2)
	answers[of(state.Stores)] = state.StoreList{
		Databases: []api.Database{{Binding: "DB", SizeBytes: 20480, Tables: 1}}, Namespaces: []api.Namespace{{Binding: "CACHE", Keys: 1, SizeBytes: 17}}, Buckets: []api.Bucket{{Binding: "FILES", Objects: 1, SizeBytes: 1 << 20}},
		Queues: []api.Queue{{Name: "jobs", Ready: 1, Delayed: 1, SizeBytes: 40}}, Workflows: []api.Workflow{{Name: "ORDER", Counts: map[string]int64{"running": 1, "errored": 1}}},
	}
	answers[of(state.Tables, "DB")] = []api.Table{{Name: "orders", RowCount: &rows, Columns: []api.Column{{Name: "id"}, {Name: "customer"}}}}
	answers[of(state.Rows, "DB", "orders", "")] = api.RowPage{Columns: []string{"id", "customer"}, Rows: [][]any{{1.0, "ada"}, {2.0, nil}}, NextCursor: &next}
	answers[of(state.Rows, "DB", "orders", next)] = api.RowPage{Columns: []string{"id", "customer"}, Rows: [][]any{{3.0, "bob"}}}
	answers[of(state.Query, "DB", "SELECT 1")] = []api.QueryResult{{Columns: []string{"1"}, Results: []map[string]any{{"1": 1.0}}}}
	answers[of(state.Keys, "CACHE", "", "")] = api.KeyPage{Items: []api.Key{{Name: "greeting", Expiration: now.Unix() + 60}}}
	answers[of(state.Value, "CACHE", "greeting")] = "hello\nworld"
	answers[of(state.DataDiff, "")] = api.DataComparison{
		From: api.ComparedData{VersionID: "v7", Written: api.Unmerged{ForkedAt: maybeAgo(time.Hour), Tables: []api.UnmergedTable{
			{Database: "DB", Table: "orders", Inserted: 12, Updated: 3}, {Database: "DB", Table: "cart\x1b[2J", Deleted: 1, AtLeast: true},
		}, Keys: api.WrittenRecords{Updated: 2}}},
		To: api.ComparedData{VersionID: "v6", Written: api.Unmerged{ForkedAt: maybeAgo(time.Hour)}},
	}
	eventsOf(answers, of)
	answers[state.Need{Kind: state.Stores, Project: "shop", Version: "pr-8"}] = answers[of(state.Stores)]
	answers[of(state.Objects, "FILES", "", "")] = api.ObjectPage{Items: []api.Object{{Key: "a.png", SizeBytes: 1 << 20, UploadedAt: now}}}
}

// eventsOf adds the queue and the workflow of v7.
func eventsOf(answers map[state.Need]any, of func(state.Kind, ...string) state.Need) {
	other := "mail"
	answers[of(state.Messages, "jobs")] = state.QueueContent{
		Queue: api.Queue{Name: "jobs", Ready: 1, Delayed: 1, Consumer: &api.QueueConsumer{Acknowledged: 40, Retried: 2, Dead: 1}},
		Messages: []api.Message{
			{ID: "m1", State: "ready", Body: []byte(`{"to":"ada"}`), SentAt: ago(time.Minute), ContentType: "json"},
			{ID: "m2", State: "delayed", Attempts: 2, Body: []byte(`"\x1b]0;evil"`), SentAt: ago(time.Second), DeadFrom: &other},
		},
	}
	list := []api.WorkflowInstance{
		{ID: "order-2", Status: "running", CurrentStep: "charge", CreatedAt: ago(time.Minute)},
		{ID: "order-1", Status: "errored", CreatedAt: ago(time.Hour), Error: &api.WorkflowError{Name: "TypeError", Message: "no card"}},
	}
	answers[of(state.Instances, "ORDER", "")] = api.WorkflowInstancePage{Items: list}
	answers[of(state.Instance, "ORDER", "order-2")] = api.WorkflowInstanceDetail{
		ID: "order-2", Status: "paused", Params: []byte(`{"order":2}`), CreatedAt: ago(time.Minute), Steps: []api.WorkflowStep{
			{Name: "reserve", Type: "do", State: "done", Attempts: 1, StartedAt: ago(50 * time.Second), EndedAt: maybeAgo(49 * time.Second), Output: []byte(`{"ok":true}`)},
			{Name: "charge", Type: "do", State: "waiting", Attempts: 3, StartedAt: ago(40 * time.Second), Error: &api.WorkflowError{Name: "Error", Message: "no answer"}},
		},
	}
}
