//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/data/s3"
	"github.com/svcctl/svcctl/internal/data/sqlite"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// world is a daemon together with all answers that its clients received. check
// compares the two after any fault.
type world struct {
	*daemon

	want   map[svc.Ref]api.VersionStatus // expected end of each version
	lost   map[svc.Ref]bool              // created, but the answer was lost
	signed map[svc.Ref][]string          // names in the guestbook of a version
	parent map[svc.Ref]string            // of versions that have one
}

const book = "guestbook" // the project of most versions

func at(project, version string) svc.Ref { return svc.Ref{Project: project, Version: version} }

// newWorld starts a daemon with this environment, and puts guestbook/v1, with an
// entry, into production.
func newWorld(t *testing.T, env ...string) *world {
	t.Helper()
	w := &world{
		daemon: newDaemon(t), want: map[svc.Ref]api.VersionStatus{}, lost: map[svc.Ref]bool{}, signed: map[svc.Ref][]string{}, parent: map[svc.Ref]string{},
	}
	if !w.start(env...) {
		t.Fatalf("the daemon ended:\n%s", w.log.String())
	}
	w.project(book)
	w.add(at(book, "v1"))
	return w
}

// add deploys a guestbook and signs it.
func (w *world) add(ref svc.Ref) {
	w.t.Helper()
	w.create(ref, guestbookBundle(w.t))
	if w.lost[ref] {
		w.t.Fatalf("%s was not accepted", ref)
	}
	w.write(w.ended(ref.Project, ref.Version), "before-"+ref.Version)
}

// write signs the guestbook of a version permanently.
func (w *world) write(v api.Version, name string) {
	w.t.Helper()
	w.sign(v.PreviewURL, name, 201)
	ref := at(v.ProjectID, v.ID)
	w.signed[ref] = append(w.signed[ref], name)
}

// create uploads a bundle and creates its version, as a pipeline does. The
// daemon may exit meanwhile.
func (w *world) create(ref svc.Ref, data []byte) {
	w.t.Helper()
	if w.want[ref] == "" {
		w.want[ref] = api.VersionStatusReady
	}
	w.upload(ref, data)
	_, err := w.client().CreateVersion(w.t.Context(), ref.Project, w.request(ref), "")
	if err != nil && !errors.Is(err, client.ErrUnreachable) {
		w.t.Fatal(err)
	}
	w.lost[ref] = err != nil
}

// request is the request that creates a version.
func (w *world) request(ref svc.Ref) api.CreateVersion {
	r := api.CreateVersion{ID: ref.Version}
	if parent := w.parent[ref]; parent != "" {
		r.ParentVersionID = &parent
	}
	return r
}

// upload puts a bundle into the embedded store with an S3 client.
func (w *world) upload(ref svc.Ref, data []byte) {
	w.t.Helper()
	_, err := w.objects("svc-artifacts").Put(w.t.Context(), ref.Project+"/"+ref.Version+"/bundle.tar.zst",
		bytes.NewReader(data), int64(len(data)), objstore.Condition{})
	if err != nil {
		w.t.Fatal(err)
	}
}

// objects is a bucket of the embedded store, reached the way other tools do.
func (d *daemon) objects(bucket string) *s3.Bucket {
	d.t.Helper()
	var keys struct {
		Access string `json:"access_key"`
		Secret string `json:"secret_key"`
	}
	data, err := os.ReadFile(filepath.Join(d.dataDir(), "object-store", "keys.json"))
	if err == nil {
		err = json.Unmarshal(data, &keys)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	store, err := s3.New(s3.Config{Endpoint: d.note.S3, Region: "us-east-1", AccessKey: keys.Access, SecretKey: svc.Secret(keys.Secret)})
	if err != nil {
		d.t.Fatal(err)
	}
	return store.Bucket(bucket, "")
}

// restart starts the daemon again once it and its children have exited.
func (w *world) restart() {
	w.t.Helper()
	w.died()
	w.noProcessesLeft()
	if !w.start() {
		w.t.Fatalf("the daemon does not start again:\n%s", w.log.String())
	}
	w.repeat()
}

// repeat repeats the requests whose answers were lost, as clients do [D9].
func (w *world) repeat() {
	w.t.Helper()
	for ref, lost := range w.lost {
		if !lost {
			continue
		}
		if _, err := w.client().CreateVersion(w.t.Context(), ref.Project, w.request(ref), ""); err != nil {
			w.t.Errorf("%s is not accepted after a restart: %v", ref, err)
		}
		w.lost[ref] = false
	}
}

// check waits until the daemon has ended what a crash interrupted, and compares
// it with what clients know. prod is the production of the guestbook.
func (w *world) check(prod string) {
	w.t.Helper()
	ready := 0
	for _, ref := range slices.SortedFunc(maps.Keys(w.want), func(a, b svc.Ref) int { return strings.Compare(a.String(), b.String()) }) {
		v := w.ended(ref.Project, ref.Version)
		if v.Status != w.want[ref] {
			w.t.Errorf("%s is %s (%s), want %s", ref, v.Status, v.Error, w.want[ref])
		}
		if v.Status == api.VersionStatusReady {
			ready++
			w.checkData(v)
		}
	}
	w.settles()
	w.checkProductions(prod)
	w.checkRegistry()
	svctest.Succeeds(w.t, "one workerd per ready version and nothing else", func() error {
		hosts, workers, stores := w.kinds()
		if hosts != ready || workers != ready || stores != 1 {
			return fmt.Errorf("%d hosts, %d workerds and %d stores for %d versions: %v", hosts, workers, stores, ready, w.processes())
		}
		return nil
	})
}

// checkData queries a version on its preview host for the acknowledged entries.
func (w *world) checkData(v api.Version) {
	w.t.Helper()
	if got := w.served(v.PreviewURL + "/api").Header.Get("Svc-Version"); got != v.ID {
		w.t.Errorf("%s is answered by %q", v.PreviewURL, got)
	}
	if len(w.signed[at(v.ProjectID, v.ID)]) == 0 {
		return
	}
	var names []string
	for _, e := range w.guestbook(v.PreviewURL).Entries {
		names = append(names, e.Name)
	}
	slices.Reverse(names) // newest first
	if want := w.signed[at(v.ProjectID, v.ID)]; !slices.Equal(names, want) {
		w.t.Errorf("%s/%s has the entries %v, want %v", v.ProjectID, v.ID, names, want)
	}
}

// settles waits until no job and no promotion is under way.
func (w *world) settles() {
	w.t.Helper()
	w.registry(func(db *sqlite.DB) {
		svctest.Succeeds(w.t, "the work to end", func() error {
			var jobs, running, moving int
			err := db.Read().QueryRowContext(w.t.Context(), `SELECT (SELECT count(*) FROM jobs),
				(SELECT count(*) FROM promotions WHERE status = 'running'),
				(SELECT count(*) FROM versions WHERE status NOT IN ('ready', 'failed'))`).Scan(&jobs, &running, &moving)
			if err == nil && jobs+running+moving > 0 {
				err = fmt.Errorf("%d jobs, %d promotions running, %d versions neither ready nor failed", jobs, running, moving)
			}
			return err
		})
	})
}

// checkProductions: one production per project with a ready version, the same
// in the registry, at the gateway and in the pointer object.
func (w *world) checkProductions(prod string) {
	w.t.Helper()
	c := w.client()
	for p, err := range c.AllProjects(w.t.Context()) {
		if err != nil {
			w.t.Fatal(err)
		}
		var productions []string
		ready := 0
		for v, err := range c.AllVersions(w.t.Context(), p.ID, "") {
			if err != nil {
				w.t.Fatal(err)
			}
			if v.IsProduction {
				productions = append(productions, v.ID)
			}
			if v.Status == api.VersionStatusReady {
				ready++
			}
		}
		if ready == 0 && len(productions) == 0 {
			continue
		}
		if !slices.Equal(productions, []string{p.ProdVersionID}) {
			w.t.Errorf("%s: versions %v are production, the project says %q", p.ID, productions, p.ProdVersionID)
		}
		if p.ID == book && p.ProdVersionID != prod {
			w.t.Errorf("production is %q, want %q", p.ProdVersionID, prod)
		}
		w.checkProduction(p)
	}
}

func (w *world) checkProduction(p api.Project) {
	w.t.Helper()
	if a := w.get(p.ProdURL + "/api"); a.Status != 200 || a.Header.Get("Svc-Version") != p.ProdVersionID {
		w.t.Errorf("%s answers %d from %q, want %q", p.ProdURL, a.Status, a.Header.Get("Svc-Version"), p.ProdVersionID)
	}
	body, _, err := w.objects("svc-runtime").Get(w.t.Context(), p.ID+"/production.json", 0, -1)
	if err != nil {
		w.t.Errorf("the pointer of %s: %v", p.ID, err)
		return
	}
	defer body.Close()
	data, err := io.ReadAll(body)
	var pointer struct {
		Version string `json:"version_id"`
	}
	if err := errors.Join(err, json.Unmarshal(data, &pointer)); err != nil || pointer.Version != p.ProdVersionID {
		w.t.Errorf("the pointer of %s is %s (%v), want %s", p.ID, data, err, p.ProdVersionID)
	}
}

// checkRegistry runs SQLite's integrity check on the registry file.
func (w *world) checkRegistry() {
	w.t.Helper()
	w.registry(func(db *sqlite.DB) {
		var integrity string
		if err := db.Read().QueryRowContext(w.t.Context(), `PRAGMA integrity_check`).Scan(&integrity); err != nil || integrity != "ok" {
			w.t.Errorf("integrity_check: %s, %v", integrity, err)
		}
		var orphans, open int
		err := db.Read().QueryRowContext(w.t.Context(), `SELECT (SELECT count(*) FROM pragma_foreign_key_check),
			(SELECT count(*) FROM timeline WHERE ended_at IS NULL)`).Scan(&orphans, &open)
		if err != nil || orphans != 0 || open != 0 {
			w.t.Errorf("%d rows without the row they name, %d steps without an end, %v", orphans, open, err)
		}
	})
}

// registry opens the file of the registry beside the daemon.
func (w *world) registry(use func(*sqlite.DB)) {
	w.t.Helper()
	db, err := sqlite.Open(w.t.Context(), filepath.Join(w.dataDir(), "registry.db"), sqlite.Options{Synchronous: sqlite.Full})
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()
	use(db)
}

// kinds counts the processes below the daemon.
func (d *daemon) kinds() (hosts, workers, stores int) {
	for _, p := range d.processes() {
		switch {
		case strings.Contains(p, " runtime-host"):
			hosts++
		case strings.Contains(p, workerd+" serve"):
			workers++
		case strings.Contains(p, " object-store"):
			stores++
		}
	}
	return hosts, workers, stores
}

// promote requests a promotion; it returns "" if the daemon exited.
func (w *world) promote(version string) (operation string) {
	w.t.Helper()
	p, err := w.client().Promote(w.t.Context(), book, version, api.PromoteVersion{})
	if err != nil && !errors.Is(err, client.ErrUnreachable) {
		w.t.Fatal(err)
	}
	return p.OperationID
}

// promotions returns the results of the guestbook's promotions, newest first.
func (w *world) promotions() []api.Promotion {
	w.t.Helper()
	page, err := w.client().Promotions(w.t.Context(), book, client.Page{Limit: 200})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(w.t.Context(), svctest.Patience)
	defer cancel()
	for i, p := range page.Items {
		ended, err := w.client().WaitPromotion(ctx, book, p.OperationID)
		var failed *client.PromotionError
		if err != nil && !errors.As(err, &failed) {
			w.t.Fatal(err)
		}
		page.Items[i] = ended
	}
	return page.Items
}

// guestbookBundle is what svcctl bundle makes of the example, made once.
func guestbookBundle(t *testing.T) []byte {
	t.Helper()
	bundleOnce.Do(func() {
		d := &daemon{t: t, env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}}
		bundleData = []byte(d.ok("../../../examples/guestbook", "bundle", "-O", "-"))
	})
	return bundleData
}

var (
	bundleOnce sync.Once
	bundleData []byte
)
