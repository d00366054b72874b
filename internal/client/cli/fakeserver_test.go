package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/client/cli/kit"
	"github.com/svcctl/svcctl/pkg/api"
)

// fakeAPI is a server with one project, whose deploys, promotes and releases end when they begin.
type fakeAPI struct {
	t  *testing.T
	mu sync.Mutex

	name string // of the project

	production string
	versions   map[string]api.Version
	promotions []api.Promotion // the newest first
	left       *api.Unmerged   // of every promote
	refuse     map[string]int  // code of a refusal by "promote" or "release", with its status
	fails      string          // of every release: the error of its record
	migrations []string
	blocked    string
	prodURL    string

	created  []api.CreateVersion
	releases []api.ReleaseVersion
	promotes []api.PromoteVersion
	changes  []api.ChangeProject
	uploads  int
	roles    []api.WhoamiRoles

	diff  []api.DataExportRecord // of every version
	diffs []string               // the parameters of the requests for it
}

func newFake(t *testing.T, production string, versions ...string) *fakeAPI {
	t.Helper()
	f := &fakeAPI{
		t: t, production: production, versions: map[string]api.Version{}, refuse: map[string]int{}, prodURL: "http://shop.test", name: "shop",
		roles: []api.WhoamiRoles{api.WhoamiRolesAdmin, api.WhoamiRolesDeploy},
	}
	for _, id := range versions {
		f.versions[id] = api.Version{ID: id, ProjectID: f.name, Status: api.VersionStatusReady}
	}
	return f
}

// wrote is what production wrote that a version lacks.
func wrote() *api.Unmerged {
	at := api.At(time.Date(2026, 11, 28, 5, 18, 11, 0, time.UTC))
	return &api.Unmerged{
		CommonVersionID: "v1", ForkedAt: &at, Tables: []api.UnmergedTable{{Database: "guestbook", Table: "entries", Inserted: 19}},
		Keys: api.WrittenRecords{Inserted: 25, Deleted: 1},
	}
}

func (f *fakeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	path := strings.TrimPrefix(r.URL.Path, "/v1/")
	path = strings.TrimPrefix(path, "projects/"+f.name)
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch last := parts[len(parts)-1]; {
	case path == "whoami":
		f.send(w, api.Whoami{Roles: f.roles, Token: "admin"})
	case path == "server":
		f.send(w, api.Server{Settings: []api.Setting{{Name: "SVC_PR_REFS", Value: "refs/pull/*"}}})
	case r.Method == http.MethodPut:
		f.uploads++
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, `{"digest":"sha256:x","size":1}`)
	case path == "" && r.Method == http.MethodPatch:
		f.changes = append(f.changes, read[api.ChangeProject](f.t, r))
		f.send(w, api.Project{ID: f.name, Guard: true, ReadOnly: true})
	case path == "":
		f.send(w, api.Project{ID: f.name, ProdVersionID: f.production, ProdURL: f.prodURL})
	case path == "/versions" && r.Method == http.MethodPost:
		f.create(w, r, read[api.CreateVersion](f.t, r))
	case path == "/promotions":
		f.send(w, api.PromotionPage{Items: append([]api.Promotion{}, f.promotions...)})
	case parts[0] == "promotions":
		i := slices.IndexFunc(f.promotions, func(p api.Promotion) bool { return p.OperationID == last })
		f.send(w, f.promotions[i])
	case parts[0] == "versions":
		f.ofVersion(w, r, parts[1], last)
	default:
		f.problem(w, http.StatusNotFound, "project_not_found")
	}
}

// ofVersion answers what is about a version that exists.
func (f *fakeAPI) ofVersion(w http.ResponseWriter, r *http.Request, id, what string) {
	v, ok := f.versions[id]
	if !ok {
		f.problem(w, http.StatusNotFound, "version_not_found")
		return
	}
	if status := f.refuse[what]; status != 0 && r.Method == http.MethodPost {
		f.problem(w, status, map[string]string{"promote": "promote_leaves_writes", "release": "schema_moved"}[what])
		return
	}
	switch what {
	case "promotion-plan":
		f.send(w, api.PromotionPlan{ProjectID: f.name, VersionID: id, ProductionVersionID: f.production, Status: v.Status, Unmerged: f.left})
	case "release-plan":
		f.send(w, api.ReleasePlan{
			ProjectID: f.name, VersionID: id, ProductionVersionID: f.production, Status: v.Status, ExpectedHoldMs: 120, MaxHoldMs: 4000,
			Migrations: append([]string{}, f.migrations...), Own: api.Unmerged{Keys: api.WrittenRecords{Inserted: 3}}, Blocked: f.blocked,
			Waiting: api.WaitingWork{Messages: 4, Instances: 2},
		})
	case "diff":
		f.diffs = append(f.diffs, r.URL.RawQuery)
		for _, record := range f.diff {
			f.send(w, record)
		}
	case "promote":
		f.promotes = append(f.promotes, read[api.PromoteVersion](f.t, r))
		p := f.change(api.Promotion{Kind: api.PromotionKindPromote, VersionID: id, Reason: f.promotes[len(f.promotes)-1].Reason, Unmerged: f.left})
		f.accept(w, api.PromotionAccepted{ProjectID: f.name, VersionID: id, PreviousVersionID: p.PreviousVersionID, OperationID: p.OperationID, Status: "running", ProdURL: f.prodURL})
	case "release":
		f.release(w, id, read[api.ReleaseVersion](f.t, r))
	default:
		v.IsProduction, v.ProdURL = f.production == id, f.prodURL
		f.send(w, v)
	}
}

func (f *fakeAPI) release(w http.ResponseWriter, candidate string, req api.ReleaseVersion) {
	f.releases = append(f.releases, req)
	id := req.VersionID
	if id == "" {
		id = "v-generated"
	}
	held := 84.2
	p := api.Promotion{
		Kind: api.PromotionKindRelease, VersionID: id, CandidateVersionID: candidate, Reason: req.Reason, HeldMs: &held,
		Moved: &api.MovedWork{Instances: 2}, Error: f.fails, HoldSteps: []api.HoldStep{{Step: "seal", Ms: 37}},
	}
	made := f.versions[candidate]
	made.ID, made.ReleasedFrom = id, candidate
	if f.fails != "" {
		made.Status = api.VersionStatusFailed
	}
	f.versions[id] = made
	p = f.change(p)
	f.accept(w, api.ReleaseAccepted{
		ProjectID: f.name, VersionID: id, CandidateVersionID: candidate, PreviousVersionID: p.PreviousVersionID, OperationID: p.OperationID, Status: "running", ProdURL: f.prodURL,
	})
}

// change records a change of production.
func (f *fakeAPI) change(p api.Promotion) api.Promotion {
	p.OperationID, p.ProjectID, p.PreviousVersionID = fmt.Sprintf("op-%d", len(f.promotions)+1), f.name, f.production
	if p.Status = api.PromotionStatusDone; p.Error != "" {
		p.Status = api.PromotionStatusFailed
	} else {
		f.production = p.VersionID
	}
	f.promotions = append([]api.Promotion{p}, f.promotions...)
	return p
}

func (f *fakeAPI) create(w http.ResponseWriter, r *http.Request, req api.CreateVersion) {
	f.created = append(f.created, req)
	id := req.ID
	if id == "" {
		id = "v-new"
	}
	parent := req.ParentVersionID
	if parent != nil && *parent == "@production" {
		parent = &f.production
	}
	if _, exists := f.versions[id]; !exists {
		text := valueOf(parent)
		v := api.Version{ID: id, ProjectID: f.name, Status: api.VersionStatusReady, ArtifactDigest: req.ArtifactDigest, GitRef: req.GitRef}
		if text != "" {
			v.ParentVersionID = &text
		}
		f.versions[id] = v
	}
	if f.production == "" {
		f.production = id
	}
	f.accept(w, api.VersionAccepted{
		ID: id, ProjectID: f.name, Status: "pending", Upload: &api.Upload{Method: http.MethodPut, URL: "http://" + r.Host + "/v1/uploads/t"},
	})
}

func valueOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func (f *fakeAPI) accept(w http.ResponseWriter, v any) {
	w.WriteHeader(http.StatusAccepted)
	f.send(w, v)
}

func (f *fakeAPI) send(w http.ResponseWriter, v any) {
	if err := json.NewEncoder(w).Encode(v); err != nil {
		f.t.Error(err)
	}
}

func (f *fakeAPI) problem(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", api.ProblemContentType)
	w.WriteHeader(status)
	f.send(w, api.Problem{Code: code, Status: status, Detail: "refused with " + code})
}

// read decodes the body of a request; none is the zero value.
func read[T any](t *testing.T, r *http.Request) (v T) {
	t.Helper()
	if err := json.NewDecoder(r.Body).Decode(&v); err != nil && err != io.EOF {
		t.Error(err)
	}
	return v
}

// runs is one command line against a fake.
type runs struct {
	typed string   // on the terminal; "" for no terminal
	env   []string // beside the tokens
	dirs  []string // of workers, beside that of shop
}

// fake runs a command line in the directory of a worker.
func (r runs) fake(t *testing.T, f http.Handler, args ...string) (code int, out, errOut string) {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"wrangler.json": `{"name":"shop","main":"w.js","compatibility_date":"2026-11-01"}`,
		"w.js":          `export default { fetch: () => new Response("hi") }`,
	} {
		for _, sub := range append(r.dirs, "") {
			if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
				t.Fatal(err)
			}
			content := text
			if sub != "" {
				content = strings.Replace(text, `"shop"`, `"`+sub+`"`, 1)
			}
			if err := os.WriteFile(filepath.Join(dir, sub, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	var stdout, stderr bytes.Buffer
	plain := "CI=1" // nothing is redrawn
	if r.typed != "" {
		plain = "TERM=dumb" // in CI nothing is asked
	}
	k := &kit.Kit{
		Streams: kit.Streams{In: strings.NewReader(r.typed), Out: &stdout, Err: &stderr, InTTY: r.typed != "", ErrTTY: r.typed != ""}, Dir: dir,
		Environ: append(r.env, "HOME="+t.TempDir(), "SVCCTL_ADMIN_TOKEN=x", "SVCCTL_DEPLOY_TOKEN=y", "SVCCTL_SERVER="+server.URL, plain),
	}
	code = Main(t.Context(), args, k, forms())
	return code, stdout.String(), stderr.String()
}

// holds reports an error for each text that is missing.
func holds(t *testing.T, what, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("%s lacks %q:\n%s", what, want, text)
		}
	}
}
