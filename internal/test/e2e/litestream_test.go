//go:build e2e

package e2e

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/svcctl/svcctl/internal/data/branch"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestLitestreamRestores restores the database of a root version from the bucket with
// litestream's own code. In sync mode the copy is complete at any time.
// spec: [C2.2] [C16.13]
func TestLitestreamRestores(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	command := filepath.Join(dir, "litestream")
	build := exec.CommandContext(t.Context(), "go", "build", "-C", "../../data/replica/testdata/litestream", "-o", command, ".")
	build.Env = append(os.Environ(), "GOFLAGS=-mod=readonly")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build litestream: %v\n%s", err, out)
	}
	store := objectStore(t)
	d := started(t, external(store, "SVC_DURABILITY=sync")...)
	url := d.deploy("testdata/crash", "--version", "v1").PreviewURL
	for _, batch := range []string{
		`["INSERT INTO t(k, v) SELECT value, hex(randomblob(3000)) FROM json_each('[1,2,3,4,5,6,7,8,9]')"]`,
		`["CREATE TABLE x(a TEXT PRIMARY KEY, b TEXT)", "INSERT INTO x SELECT k, v FROM t"]`,
		`["DELETE FROM t WHERE id % 2", "UPDATE t SET v = 'short' WHERE id = 4"]`,
	} {
		if a, err := fetch(t.Context(), d.http(), http.MethodPost, url+"/churn", batch); err != nil || a.Status != http.StatusOK {
			t.Fatalf("%s: %v, %+v", batch, err, a)
		}
		want, err := fetch(t.Context(), d.http(), http.MethodGet, url+"/dump", "")
		if err != nil || want.Status != http.StatusOK {
			t.Fatal(err, want)
		}
		path := filepath.Join(t.TempDir(), "restored.sqlite")
		from := "s3://svc-runtime/" + branch.DatabasePrefix(svc.Ref{Project: "crash", Version: "v1"}, "database-crash") +
			"/ltx?endpoint=" + store.Direct.Endpoint + "&forcePathStyle=true&region=us-east-1"
		restore := exec.CommandContext(t.Context(), command, from, path)
		restore.Env = []string{"AWS_ACCESS_KEY_ID=" + store.Direct.AccessKey, "AWS_SECRET_ACCESS_KEY=" + store.Direct.SecretKey.Reveal(), "HOME=" + dir}
		if out, err := restore.CombinedOutput(); err != nil {
			t.Fatalf("litestream restore %s: %v\n%s", from, err, out)
		}
		if got := dumpOf(t, path); got != want.Body {
			t.Errorf("after %s litestream restores something else: %s", batch, difference(got, want.Body))
		}
	}
}
