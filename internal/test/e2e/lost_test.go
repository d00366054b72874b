//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/data/objstore"
	"github.com/svcctl/svcctl/internal/server/upkeep/backup"
	"github.com/svcctl/svcctl/internal/svc"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// lossWindow is the age from which an acknowledged change of the registry survives a
// lost machine. The documented window is SVC_SYNC_WINDOW and the transfer of the change;
// the rest is for machines that run many tests.
const lossWindow = time.Minute

// TestLostMachine: a server is killed and its data directory lost. What was acknowledged
// before the window is there after a restore into an empty directory: projects,
// production, data and tokens. No secret is in the object store in the open.
func TestLostMachine(t *testing.T) {
	t.Parallel()
	store := objectStore(t)
	env := external(store, "SVC_ARTIFACTS_BUCKET=artifacts", "RUNTIME_BUCKET=runtime", "SVC_DURABILITY=sync")
	d := newDaemon(t, env...)
	d.bin = breakable
	if !d.start() {
		t.Fatal(d.log.String())
	}
	prod := d.deploy(ledgerDir, "--version", "v1").ProdURL
	p, err := d.client().Promote(t.Context(), "ledger", "v1", api.PromoteVersion{})
	if err == nil {
		_, err = d.client().WaitPromotion(t.Context(), "ledger", p.OperationID)
	}
	if err != nil {
		t.Fatal(err)
	}
	if a := d.do("POST", prod+"/add", "text/plain", "kept"); a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	key := strings.TrimSpace(d.ok(d.home, "admin", "recovery-key"))
	for i := range 5 {
		d.project(fmt.Sprintf("project-%d", i))
	}
	acknowledged := time.Now()
	bucket := store.Bucket("artifacts", "")
	svctest.Succeeds(t, "the copy of the last project", func() error {
		nodes, err := backup.Nodes(t.Context(), bucket)
		if err != nil || len(nodes) != 1 {
			return fmt.Errorf("nodes %v: %w", nodes, err)
		}
		state, err := backup.Read(t.Context(), bucket, nodes[0], svc.Secret(key))
		if err == nil && !strings.Contains(string(state.Database), "project-4") {
			err = errors.New("not yet")
		}
		return err
	})
	took := time.Since(acknowledged)
	if took > lossWindow {
		t.Errorf("the copy took %s", took)
	}
	t.Logf("a change was in the object store %s after its acknowledgement", took.Round(time.Millisecond))
	d.ok(d.home, "admin", "backup", filepath.Join(d.home, "backup"))
	d.ok(d.home, "admin", "backup", "s3://copies/nightly")
	keys := bundle.Keys(svc.Ref{Project: "ledger", Version: "v1"})
	move(t, bucket, keys[0], keys[1]) // as a pipeline that compresses with gzip stores it
	d.ok(d.home, "admin", "verify")
	tokens := d.note
	d.kill()
	d.noProcessesLeft()
	if err := os.RemoveAll(d.dataDir()); err != nil {
		t.Fatal(err)
	}
	keyFile := filepath.Join(d.home, "key")
	if err := os.WriteFile(keyFile, []byte(key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, errs, code := d.run(d.home, "admin", "restore", "--from", "s3://copies", "--key-file", keyFile); code != 5 || !strings.Contains(errs, "no copy of a registry") {
		t.Errorf("a restore from another prefix: exit %d, %s%s", code, out, errs)
	}
	restored := filepath.Join(d.home, "from-backup")
	d.ok(d.home, "admin", "restore", "--from", "s3://copies/nightly", "--key-file", keyFile, "--data-dir", restored)
	if data, err := os.ReadFile(filepath.Join(restored, "registry.db")); err != nil || !strings.Contains(string(data), "project-4") {
		t.Errorf("the registry restored from the backup lacks a project: %v", err)
	}
	d.ok(d.home, "admin", "restore", "--from", "s3://artifacts", "--key-file", keyFile)
	if !d.start() {
		t.Fatal(d.log.String())
	}
	if d.note.AdminToken != tokens.AdminToken || d.note.DeployToken != tokens.DeployToken {
		t.Error("the restored server has other tokens")
	}
	for i := range 5 {
		if _, err := d.client().Project(t.Context(), fmt.Sprintf("project-%d", i)); err != nil {
			t.Errorf("an acknowledged project is lost: %v", err)
		}
	}
	prodNow, err := d.client().Project(t.Context(), "ledger")
	if err != nil {
		t.Fatal(err)
	}
	prod = prodNow.ProdURL
	if a := d.served(prod + "/all"); !strings.Contains(a.Body, "kept") {
		t.Errorf("production answers %d %q", a.Status, a.Body)
	}
	d.ok(d.home, "admin", "verify")
	if out, errs, code := d.run(d.home, "admin", "restore", "--from", "s3://artifacts", "--key-file", keyFile); code == 0 || !strings.Contains(errs, "data directory") {
		t.Errorf("a restore over a running server: exit %d, %s%s", code, out, errs)
	}
}

// move gives an object another key.
func move(t *testing.T, bucket objstore.Bucket, from, to string) {
	t.Helper()
	body, info, err := bucket.Get(t.Context(), from, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	if _, err := bucket.Put(t.Context(), to, body, info.Size, objstore.Condition{}); err != nil {
		t.Fatal(err)
	}
	if err := bucket.Delete(t.Context(), from); err != nil {
		t.Fatal(err)
	}
}
