package httpapi_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/host/binding"
	"github.com/svcctl/svcctl/internal/server/registry"
	"github.com/svcctl/svcctl/internal/svc"
)

// fakes implements the services behind the API. They write to a real registry.
type fakes struct {
	db       *registry.DB
	ingress  *svc.Ingress
	queueMax int
	logs     string // directory of the logs, which a real service reads
	routes   []svc.Route
	bindings *binding.Set  // nil: no runtime
	patience time.Duration // of a runtime for one request; 0: no limit
	runtimes map[svc.Ref]svc.Runtime
	bundles  map[svc.Ref]bundle.Manifest
	down     []svc.Ref // of NotServing

	mu       sync.Mutex
	failWith error                // result of every call, if set
	storeErr error                // of Ping
	uploads  map[string]svc.Ref   // open tickets
	stored   map[svc.Ref]string   // uploaded bundles
	promoted []svc.PromoteRequest // promote requests
	panics   bool
}

func newFakes(db *registry.DB) *fakes {
	return &fakes{db: db, uploads: map[string]svc.Ref{}, stored: map[svc.Ref]string{}}
}

func (f *fakes) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failWith = err
}

func (f *fakes) failure() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failWith
}

// Submit validates and stores a version, like package deploy.
func (f *fakes) Submit(ctx context.Context, n svc.NewVersion, o svc.SubmitOptions) (svc.Version, error) {
	if err := f.failure(); err != nil {
		return svc.Version{}, err
	}
	if err := n.Validate(); err != nil {
		return svc.Version{}, err
	}
	if _, err := f.db.Project(ctx, n.Project); err != nil {
		return svc.Version{}, err
	}
	v, _, err := f.db.CreateVersion(ctx, n, svc.CreateOptions{
		QueueMax: f.queueMax, SubmitOptions: o,
		Forks: svc.ForkPolicy{PRRefs: []string{"pull/*"}},
	})
	return v, err
}

// Manifest returns a bundle, or artifact_missing.
func (f *fakes) Manifest(_ context.Context, ref svc.Ref) (bundle.Manifest, error) {
	m, ok := f.bundles[ref]
	if !ok {
		return m, svc.Errorf(svc.NotFound, "artifact_missing", "the bundle has not arrived")
	}
	return m, nil
}

// Promote records a running promotion and sets the production.
func (f *fakes) Promote(ctx context.Context, ref svc.Ref, p svc.PromoteRequest) (svc.Promotion, error) {
	if err := f.failure(); err != nil {
		return svc.Promotion{}, err
	}
	f.mu.Lock()
	f.promoted = append(f.promoted, p)
	f.mu.Unlock()
	if _, err := f.db.Version(ctx, ref); err != nil {
		return svc.Promotion{}, err
	}
	project, err := f.db.Project(ctx, ref.Project)
	if err != nil {
		return svc.Promotion{}, err
	}
	if p.ExpectedProd != nil && *p.ExpectedProd != project.ProdVersionID {
		return svc.Promotion{}, svc.Errorf(svc.Precondition, "production_moved", "production is another version")
	}
	if project.ProdVersionID == ref.Version {
		return svc.Promotion{Project: ref.Project, Version: ref.Version, Previous: ref.Version, Status: svc.PromotionUnchanged}, nil
	}
	run := svc.Promotion{
		ID: "op-" + ref.Version, Project: ref.Project, Version: ref.Version, Previous: project.ProdVersionID, Reason: p.Reason,
		Status: svc.PromotionRunning, CreatedAt: time.Now(),
	}
	if err := f.db.CreatePromotion(ctx, run); err != nil {
		return svc.Promotion{}, err
	}
	if err := f.db.SetProduction(ctx, ref.Project, project.ProdVersionID, ref.Version); err != nil {
		return svc.Promotion{}, err
	}
	return run, f.db.FinishPromotion(ctx, run.ID, svc.PromotionOutcome{Status: svc.PromotionDone})
}

// Release records a release that is done, without a change of production.
func (f *fakes) Release(ctx context.Context, candidate svc.Ref, r svc.ReleaseRequest) (svc.Promotion, error) {
	if err := f.failure(); err != nil {
		return svc.Promotion{}, err
	}
	from, err := f.db.Version(ctx, candidate)
	if err != nil {
		return svc.Promotion{}, err
	}
	p, err := f.db.Project(ctx, candidate.Project)
	if err != nil {
		return svc.Promotion{}, err
	}
	run := svc.Promotion{ID: "op-of-" + candidate.Version, Project: p.ID, Previous: p.ProdVersionID, Reason: r.Reason, Status: svc.PromotionRunning}
	n := svc.NewVersion{Project: p.ID, ID: r.VersionID, ParentID: p.ProdVersionID, Digest: from.Digest, Env: from.Env, ReleasedFrom: from.Version}
	if _, err := f.db.CreateRelease(ctx, n, svc.ForkPolicy{}, &run); err != nil {
		return svc.Promotion{}, err
	}
	return run, f.db.FinishPromotion(ctx, run.ID, svc.PromotionOutcome{Status: svc.PromotionDone})
}

// ReleasePlan plans with fixed counts.
func (f *fakes) ReleasePlan(ctx context.Context, candidate svc.Ref) (plan svc.ReleasePlan, err error) {
	p, err := f.db.Project(ctx, candidate.Project)
	if err != nil {
		return plan, err
	}
	v, err := f.db.Version(ctx, candidate)
	if err != nil {
		return plan, err
	}
	return svc.ReleasePlan{
		Project: p.ID, Candidate: v.Version, Status: v.Status, Production: p.ProdVersionID,
		Expected: 300 * time.Millisecond, Limit: 4 * time.Second, Migrations: []string{"main/0002_total.sql"},
		Own: svc.Unmerged{Common: p.ProdVersionID, Keys: svc.Written{Inserted: 1}}, Waiting: svc.Waiting{Messages: 2, Instances: 1},
	}, nil
}

// Export passes two records of a version that exists, and more that fail for one that is
// compared with "late".
func (f *fakes) Export(ctx context.Context, o svc.DataExport, emit func(svc.ExportRecord) error) error {
	if err := f.failure(); err != nil {
		return err
	}
	if _, err := f.db.Version(ctx, o.Ref); err != nil {
		return err
	}
	start := &svc.ExportStart{Version: o.Version, Against: o.Against, Common: "v-1", At: time.UnixMilli(1000)}
	if !o.SinceCut {
		start = &svc.ExportStart{Version: o.Version, Reason: svc.NoCutUnrelated}
	}
	for _, r := range []svc.ExportRecord{
		{Kind: svc.ExportBegin, Start: start},
		{Kind: svc.ExportRow, Resource: "main", Op: svc.ExportInsert, Table: "orders", Row: map[string]any{"id": 1}, Values: map[string]any{"id": 1, "what": "<a>"}, SQL: "INSERT"},
		{Kind: svc.ExportBody, Resource: "files", Key: "k", Offset: 4, Body: []byte{0xff}},
	} {
		if err := emit(r); err != nil {
			return err
		}
	}
	if o.Against == "late" {
		return svc.Errorf(svc.Unavailable, svc.CodeExportIncomplete, "the data could not be read").WithHint("again")
	}
	return emit(svc.ExportRecord{Kind: svc.ExportEnd, Wrote: &svc.Unmerged{Common: "v-1", Keys: svc.Written{Inserted: 1}}})
}

// Diff passes one record of each kind that only a diff has.
func (f *fakes) Diff(ctx context.Context, o svc.DataDiff, emit func(svc.ExportRecord) error) error {
	if err := f.failure(); err != nil {
		return err
	}
	if _, err := f.db.Version(ctx, o.Ref); err != nil {
		return err
	}
	for _, r := range []svc.ExportRecord{
		{Kind: svc.ExportBegin, Start: &svc.ExportStart{Version: o.Version, Against: o.With, Common: "v-1"}},
		{Kind: svc.ExportRow, Resource: "main", Op: svc.ExportUpdate, Table: o.Table, Was: map[string]any{"a": 1}, Values: map[string]any{"a": 2}},
		{Kind: svc.DiffCount, Of: svc.ExportRow, Resource: "main", Table: o.Table, Counts: &svc.Written{Updated: 1}},
		{Kind: svc.ExportEnd},
	} {
		if err := emit(r); err != nil {
			return err
		}
	}
	return nil
}

// Compare returns fixed counts for two versions that exist.
func (f *fakes) Compare(ctx context.Context, from, to svc.Ref) (ofFrom, ofTo svc.Unmerged, err error) {
	for _, ref := range []svc.Ref{from, to} {
		if _, err := f.db.Version(ctx, ref); err != nil {
			return ofFrom, ofTo, err
		}
	}
	ofFrom = svc.Unmerged{Common: to.Version, Tables: []svc.UnmergedTable{{Database: "main", Table: "orders", Written: svc.Written{Updated: 2}}}}
	return ofFrom, svc.Unmerged{Common: to.Version, Keys: svc.Written{Deleted: 1}}, nil
}

// Plan plans with fixed counts for a version that is not production.
func (f *fakes) Plan(ctx context.Context, ref svc.Ref) (plan svc.PromotionPlan, err error) {
	p, err := f.db.Project(ctx, ref.Project)
	if err != nil {
		return plan, err
	}
	v, err := f.db.Version(ctx, ref)
	if err != nil {
		return plan, err
	}
	plan = svc.PromotionPlan{Project: ref.Project, Version: ref.Version, Status: v.Status, Production: p.ProdVersionID}
	if plan.Production != "" && plan.Production != ref.Version {
		plan.Left = svc.Left{Waiting: &svc.Waiting{Messages: 2, Instances: 1}, Unmerged: &svc.Unmerged{
			Common: "v-1", At: time.UnixMilli(1000), Keys: svc.Written{Inserted: 1, Updated: 2, Deleted: 3, AtLeast: true},
			Tables: []svc.UnmergedTable{{Database: "main", Table: "orders", Written: svc.Written{Inserted: 4}}},
		}}
	}
	return plan, nil
}

// Archive, Wake, Destroy and SetPinned are transitions in the registry. The version
// "slow" takes long to wake, the wake of "broken" fails.
func (f *fakes) Archive(ctx context.Context, ref svc.Ref) (svc.Version, error) {
	v, err := f.db.Move(ctx, ref, svc.TriggerArchive, svc.Change{})
	if ref.Version == "pr-1" {
		v.Waiting = svc.Waiting{Messages: 3}
	}
	return v, err
}

func (f *fakes) Wake(ctx context.Context, ref svc.Ref) (svc.Version, error) {
	v, err := f.db.Move(ctx, ref, svc.TriggerWake, svc.Change{})
	switch {
	case err != nil || ref.Version == "slow":
		return v, err
	case ref.Version == "broken":
		_, err := f.db.Move(ctx, ref, svc.TriggerWakeFail, svc.Change{})
		return v, errors.Join(err, svc.Errorf(svc.Unavailable, "wake_failed", "it did not start"))
	}
	return f.db.Move(ctx, ref, svc.TriggerActivate, svc.Change{})
}

func (f *fakes) Destroy(ctx context.Context, ref svc.Ref) (svc.Version, error) {
	return f.db.Move(ctx, ref, svc.TriggerDestroy, svc.Change{})
}

func (f *fakes) SetPinned(ctx context.Context, ref svc.Ref, pinned bool) (svc.Version, error) {
	return f.db.SetPinned(ctx, ref, pinned)
}

// SetEnv stores overrides like package lifecycle, without a restart. The version
// "broken" does not start with them.
func (f *fakes) SetEnv(ctx context.Context, ref svc.Ref, c svc.EnvChange) (svc.Environment, error) {
	if err := svc.Invalid(svc.CheckEnv(c.Vars, "/vars")); err != nil {
		return svc.Environment{}, err
	}
	e, err := f.db.Environment(ctx, ref)
	if err == nil && c.Match != nil {
		err = c.Match(e)
	}
	if err == nil && ref.Version == "broken" {
		err = svc.Errorf(svc.Internal, "env_restart_failed", "it did not start")
	}
	if err == nil {
		_, err = f.db.SetEnv(ctx, ref, c.Vars)
	}
	if err != nil {
		return svc.Environment{}, err
	}
	return f.db.Environment(ctx, ref)
}

// Collect returns a report on one project with a version of every kind.
func (f *fakes) Collect(ctx context.Context, r svc.GCRequest) (svc.GCReport, error) {
	if err := f.failure(); err != nil {
		return svc.GCReport{}, err
	}
	if r.Project != "" {
		if _, err := f.db.Project(ctx, r.Project); err != nil {
			return svc.GCReport{}, err
		}
	}
	report := svc.GCReport{DryRun: r.DryRun, StartedAt: time.UnixMilli(1e12), Took: 1500 * time.Millisecond, Grace: time.Hour}
	if r.Project == "empty" {
		report.Incomplete, report.LastSweep = true, time.UnixMilli(1e12)
		return report, nil
	}
	one, two := svc.Amount{Objects: 1, Bytes: 10}, svc.Amount{Objects: 2, Bytes: 20}
	report.Projects = []svc.GCProject{
		{
			ID: "shop", Marked: []string{"v2"}, Removed: []string{"v0"},
			Versions: []svc.GCVersion{
				{ID: "v1", Status: svc.StatusReady, Data: "live", Live: two, Pinned: one, PinnedBy: []svc.GCPin{{Version: "v2", Amount: one}}},
				{ID: "v2", Data: "destroying", Waiting: one, Left: 90 * time.Second, Gone: two, Other: one},
			},
			Broken: []svc.StoreProblem{{Code: "not_restorable", Ref: svc.Ref{Project: "shop", Version: "v1"}, Database: "main", Key: "k", Count: 3, Detail: "a hole"}},
		},
		{ID: "sick", Err: svc.Errorf(svc.Unavailable, "gc_failed", "it was not collected").Because(errors.New("secret cause"))},
	}
	return report, nil
}

// Audit finds one problem.
func (f *fakes) Audit(ctx context.Context, project string) (svc.GCAudit, error) {
	if project != "" {
		if _, err := f.db.Project(ctx, project); err != nil {
			return svc.GCAudit{}, err
		}
	}
	return svc.GCAudit{
		StartedAt: time.UnixMilli(1e12), Took: time.Second, Projects: 1, Versions: 2, Databases: 3, Files: 4,
		Problems: []svc.StoreProblem{{Code: "file_missing", Ref: svc.Ref{Project: "shop", Version: "v1"}, Database: "main", Key: "k", Count: 1, Detail: "gone"}},
	}, f.failure()
}

// BranchSizes knows v1 and v2.
func (f *fakes) BranchSizes(context.Context, string) (svc.BranchSizes, error) {
	one, two := svc.Amount{Objects: 1, Bytes: 10}, svc.Amount{Objects: 2, Bytes: 20}
	return svc.BranchSizes{MeasuredAt: time.UnixMilli(1e12), Versions: map[string]svc.BranchSize{
		"v1": {Own: two, Exclusive: one}, "v2": {Own: one, Exclusive: one, Shared: one},
	}}, f.failure()
}

// Issue returns a ticket.
func (f *fakes) Issue(_ context.Context, ref svc.Ref) (svc.Upload, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ticket := "ticket-of-" + ref.Version
	f.uploads[ticket] = ref
	return svc.Upload{Method: "PUT", URL: "/v1/uploads/" + ticket, ExpiresAt: time.Now().Add(time.Minute), AssetsURL: "/v1/uploads/" + ticket + "/assets"}, nil
}

// Accept stores a bundle once per ticket.
func (f *fakes) Accept(_ context.Context, ticket string, body io.Reader, _ int64) (svc.Receipt, error) {
	f.mu.Lock()
	ref, ok := f.uploads[ticket]
	_, used := f.stored[ref]
	f.mu.Unlock()
	switch {
	case !ok:
		return svc.Receipt{}, svc.Errorf(svc.Forbidden, "upload_expired", "this upload address has expired")
	case used:
		return svc.Receipt{}, svc.Errorf(svc.Conflict, "already_uploaded", "the bundle is there already")
	}
	b, err := io.ReadAll(body)
	if err != nil {
		return svc.Receipt{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stored[ref] = string(b)
	sum := sha256.Sum256(b)
	return svc.Receipt{Digest: "sha256:" + hex.EncodeToString(sum[:]), Size: int64(len(b))}, nil
}

// Announce misses every file that is not empty.
func (f *fakes) Announce(_ context.Context, ticket string, files []bundle.File) (missing []string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.uploads[ticket]; !ok {
		return nil, svc.Errorf(svc.Forbidden, "upload_expired", "this upload address has expired")
	}
	missing = []string{}
	for _, file := range files {
		if file.Size > 0 {
			missing = append(missing, file.SHA256)
		}
	}
	return missing, nil
}

// AcceptAssets takes every archive for one file.
func (f *fakes) AcceptAssets(_ context.Context, ticket string, archive io.Reader) (svc.AssetsReceipt, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.uploads[ticket]; !ok {
		return svc.AssetsReceipt{}, svc.Errorf(svc.Forbidden, "upload_expired", "this upload address has expired")
	}
	n, err := io.Copy(io.Discard, archive)
	return svc.AssetsReceipt{Files: 1, Bytes: n}, err
}

// Dispatch runs an event until its deadline, if its cron expression is "wait".
func (f *fakes) Dispatch(ctx context.Context, ref svc.Ref, e svc.Event) (svc.EventResult, error) {
	if err := f.failure(); err != nil {
		return svc.EventResult{}, err
	}
	r := svc.EventResult{Outcome: svc.OutcomeOK, Duration: 12500 * time.Microsecond, Logs: []svc.LogLine{{
		Time: e.Scheduled.Time, Level: "log", Source: "console", Message: ref.String() + " " + e.Scheduled.Cron + " " + e.Limit.String(),
	}}}
	if e.Scheduled.Cron == "throw" {
		r.Outcome, r.NoRetry, r.Logs, r.LogsDropped = svc.OutcomeException, true, nil, 3
		r.Error = &svc.EventError{Name: "TypeError", Message: "boom", Stack: "TypeError: boom\n    at x"}
	}
	if e.Scheduled.Cron == "wait" {
		select {
		case <-ctx.Done():
		case <-time.After(e.Limit):
		}
		r.Outcome, r.Error = svc.OutcomeTimeout, &svc.EventError{Message: "it was ended"}
	}
	return r, nil
}

// Routes returns the routes.
func (f *fakes) Routes() []svc.Route {
	if f.panics {
		panic("secret-in-a-panic")
	}
	return f.routes
}

func (f *fakes) Runtime(ref svc.Ref) (svc.Runtime, bool) {
	r, ok := f.runtimes[ref]
	return r, ok
}

func (f *fakes) NotServing() []svc.Ref { return f.down }

// Ping is the health check of the object store.
func (f *fakes) Ping(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return errors.Join(f.storeErr, ctx.Err())
}

// project returns one of a series of projects.
func project(t *testing.T) svc.Project {
	t.Helper()
	return svc.Project{ID: "p" + strings.ToLower(rand.Text())}
}
