//go:build e2e

package e2e

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
)

// accept creates a version and returns the answer.
func (d *daemon) accept(project string, v api.CreateVersion) api.VersionAccepted {
	d.t.Helper()
	accepted, err := d.client().CreateVersion(d.t.Context(), project, v, "")
	if err != nil {
		d.t.Fatal(err)
	}
	return accepted
}

// TestUploadAddresses sends wrong requests to the upload address of a bundle [D11].
func TestUploadAddresses(t *testing.T) {
	t.Parallel()
	d := started(t, "SVC_MAX_BUNDLE_SIZE=64KiB", "SVC_ARTIFACT_WAIT=30s")
	d.project("shop")
	good := script(t, helloScript)
	url := d.accept("shop", api.CreateVersion{ID: "v1", Upload: true}).Upload.URL
	put := func(url string, body io.Reader, headers ...string) reply {
		return d.ask(http.MethodPut, url, "", body, headers...)
	}
	endless := func() io.Reader { return struct{ io.Reader }{io.LimitReader(zero{}, 1<<20)} } // of unknown length

	d.refused(put(url, bytes.NewReader(make([]byte, 64<<10+1))), 413, "bundle_too_large", "65536")
	d.refused(put(url, endless()), 413, "bundle_too_large", "65536")
	d.refused(put(url+"x", bytes.NewReader(good)), 403, "upload_invalid", "upload")
	d.refused(put(strings.Replace(url, "/uploads/", "/uploads/A", 1), bytes.NewReader(good)), 403, "upload_invalid")
	d.refused(put(url[:len(url)-4], bytes.NewReader(good)), 403, "upload_invalid")
	d.refused(put(d.note.API+"/v1/uploads/x", bytes.NewReader(good)), 403, "upload_invalid")
	d.refused(put(d.ticket("shop/v1", time.Now().Add(-time.Minute), d.uploadKey()), bytes.NewReader(good)), 403, "upload_expired", "create another version")
	d.refused(put(d.ticket("shop/v1", time.Now().Add(time.Minute), "guessed"), bytes.NewReader(good)), 403, "upload_invalid")
	d.refused(d.ask(http.MethodGet, url, "", nil), 405, "method_not_allowed", "PUT")
	d.refused(d.ask(http.MethodPost, url, d.note.AdminToken, bytes.NewReader(good)), 405, "method_not_allowed")
	for _, r := range []reply{put(url+"x", nil), d.ask(http.MethodGet, url, "", nil)} {
		if strings.Contains(r.body, filepath.Base(url)) {
			t.Errorf("the answer repeats the address: %s", r.body)
		}
	}

	if r := put(url, bytes.NewReader(good)); r.status != 201 || !strings.Contains(r.body, `"sha256:`) {
		t.Fatalf("the right upload: %d %s", r.status, r.body)
	}
	d.refused(put(url, bytes.NewReader(good)), 409, "already_uploaded", "shop/v1", "create another version")
	if v := d.ended("shop", "v1"); v.Status != api.VersionStatusReady {
		t.Errorf("%s: %s", v.Status, v.Error)
	}
	if strings.Contains(d.log.String(), filepath.Base(url)) {
		t.Error("the log has the address")
	}
	d.livesOn()
}

func (d *daemon) uploadKey() string {
	d.t.Helper()
	var secrets struct {
		UploadKey string `json:"upload_key"`
	}
	data, err := os.ReadFile(filepath.Join(d.dataDir(), "secrets.json"))
	if err == nil {
		err = json.Unmarshal(data, &secrets)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return secrets.UploadKey
}

// ticket creates an upload address as the daemon does.
func (d *daemon) ticket(ref string, expires time.Time, key string) string {
	claim := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s/%d", ref, expires.Unix()))
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte("upload:" + claim))
	return d.note.API + "/v1/uploads/" + claim + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// TestTicketMadeHere guards the test above: a ticket that is made the same way and
// has not expired is accepted.
func TestTicketMadeHere(t *testing.T) {
	t.Parallel()
	d := started(t)
	d.project("shop")
	d.accept("shop", api.CreateVersion{ID: "v1"})
	r := d.ask(http.MethodPut, d.ticket("shop/v1", time.Now().Add(time.Minute), d.uploadKey()), "", bytes.NewReader(script(t, helloScript)))
	if r.status != 201 {
		t.Errorf("%d %s", r.status, r.body)
	}
	d.ended("shop", "v1")
}

// TestQueueFull fills a queue of one.
// spec: [C11.5] [C13.8] [C13.9] [C16.19] [D29]
func TestQueueFull(t *testing.T) {
	t.Parallel()
	d := started(t, "SVC_QUEUE_MAX=1", "SVC_ARTIFACT_WAIT=60s")
	d.project("shop")
	first := d.accept("shop", api.CreateVersion{ID: "v1", Upload: true})

	const create = "/v1/projects/shop/versions"
	r := d.deployer(http.MethodPost, create, `{"id":"v2"}`)
	d.refused(r, 503, "queue_full", `"queue_full":true`, `"pending_jobs":1`, `"queue_max":1`, "try again later")
	if r.header.Get("Retry-After") == "" {
		t.Error("a 503 without Retry-After")
	}
	r = d.ask(http.MethodGet, "/v1/health/deep", "", nil)
	var deep map[string]any
	if err := json.Unmarshal([]byte(r.body), &deep); err != nil {
		t.Fatal(err)
	}
	if r.status != 503 || deep["code"] != "queue_full" || deep["queue_full"] != true || deep["pending_jobs"] != 1.0 || deep["queue_max"] != 1.0 ||
		r.header.Get("Retry-After") == "" {
		t.Errorf("deep health: %d %s", r.status, r.body)
	}
	if r := d.deployer(http.MethodPost, create, `{"id":"v1"}`); r.status != 202 { // it is in the queue already [D9]
		t.Errorf("the same request again: %d %s", r.status, r.body)
	}
	_, errs, code := d.run(hello(t, "hi"), "deploy", "--project", "shop", "--timeout", "2s")
	if code != 8 || !strings.Contains(errs, "the deploy queue is full: 1 of 1") {
		t.Errorf("deploy: exit %d, %s", code, errs)
	}

	if err := d.client().Upload(t.Context(), *first.Upload, bytes.NewReader(script(t, helloScript)), nil); err != nil {
		t.Fatal(err)
	}
	d.ended("shop", "v1")
	svctest.Succeeds(d.t, "room in the queue", func() error {
		if r := d.ask(http.MethodGet, "/v1/health/deep", "", nil); r.status != 200 {
			return fmt.Errorf("%d %s", r.status, r.body)
		}
		return nil
	})
	d.livesOn()
}

// TestNoArtifact deploys versions whose bundles are never uploaded.
// spec: [C7.13]
func TestNoArtifact(t *testing.T) {
	t.Parallel()
	d := started(t, "SVC_ARTIFACT_WAIT=1s", "SVC_ORCH_WORKERS=2")
	d.project("shop")
	d.accept("shop", api.CreateVersion{ID: "v1"})
	d.accept("shop", api.CreateVersion{ID: "v2", Upload: true, ArtifactDigest: "sha256:" + strings.Repeat("0", 64)})
	for _, id := range []string{"v1", "v2"} {
		d.failed("shop", id, "fetching", "artifact_missing", "within 1", "shop/"+id+"/bundle.tar.zst", "bundle.tar.gz", "SVC_ARTIFACT_WAIT")
	}
	d.idle()
	const create = "/v1/projects/shop/versions"
	d.refused(d.deployer(http.MethodPost, create, `{"id":"v1"}`), 409, "version_exists", "v1")
	d.livesOn()
}

// TestSameVersionTwice repeats creates [D9].
// spec: [C1.3]
func TestSameVersionTwice(t *testing.T) {
	t.Parallel()
	d := started(t)
	d.project("shop")
	good := script(t, helloScript)
	sum := sha256.Sum256(good)
	digest := "sha256:" + hex.EncodeToString(sum[:])
	d.push("shop", api.CreateVersion{ID: "v1", ArtifactDigest: digest}, good)
	d.ended("shop", "v1")
	const create = "/v1/projects/shop/versions"
	post := func(body string, headers ...string) reply {
		return d.deployer(http.MethodPost, create, body, headers...)
	}
	if r := post(`{"id":"v1","artifact_digest":"` + digest + `"}`); r.status != 202 || !strings.Contains(r.body, `"ready"`) {
		t.Errorf("the same again: %d %s", r.status, r.body)
	}
	d.refused(post(`{"id":"v1","artifact_digest":"sha256:`+strings.Repeat("1", 64)+`"}`), 409, "version_exists", "v1")
	d.refused(post(`{"id":"v1","artifact_digest":"`+digest+`","env":{"A":"b"}}`), 409, "version_exists")
	if r := post(`{"id":"v2"}`, "Idempotency-Key", "k1"); r.status != 202 {
		t.Errorf("%d %s", r.status, r.body)
	}
	d.refused(post(`{"id":"v3"}`, "Idempotency-Key", "k1"), 422, "idempotency_mismatch", "new key")
	d.refused(post(`{"id":"v4"}`, "Idempotency-Key", strings.Repeat("k", 256)), 400, "invalid_idempotency_key", "1 to 255")
}

// TestArtifactsDir deploys from the operator's directory [D43].
// spec: [C16.17]
func TestArtifactsDir(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := started(t, "ARTIFACTS_DIR="+dir, "SVC_ARTIFACT_WAIT=1s", "SVC_ORCH_WORKERS=4")
	d.project("shop")
	good, manifest := script(t, helloScript), [2]entry{}
	manifest[0], manifest[1] = helloEntries(t)
	wrong := "sha256:" + strings.Repeat("0", 64)
	place(t, dir, "zst/bundle.tar.zst", good)
	place(t, dir, "gz/bundle.tar.gz", gzipped(tarred(t, manifest[0], manifest[1])))
	place(t, dir, "digest/bundle.tar.zst", good)
	place(t, dir, "half/bundle.tar.zst", half(good))
	place(t, dir, "both/bundle.tar.zst", script(t, `export default { fetch: () => new Response("from the directory") }`))
	place(t, dir, "folder/bundle.tar.zst/x", nil)

	for _, id := range []string{"zst", "gz", "half", "folder"} {
		d.accept("shop", api.CreateVersion{ID: id})
	}
	d.accept("shop", api.CreateVersion{ID: "digest", ArtifactDigest: wrong})
	d.push("shop", api.CreateVersion{ID: "both"}, good)
	d.push("shop", api.CreateVersion{ID: "bucket"}, good)
	for id, want := range map[string]string{"zst": "hello", "gz": "hello", "bucket": "hello", "both": "from the directory"} {
		v := d.ended("shop", id)
		if a := d.get(v.PreviewURL); a.Status != 200 || a.Body != want {
			t.Errorf("%s is %s %s, answers %d %s", id, v.Status, v.Error, a.Status, a.Body)
		}
	}
	d.failed("shop", "digest", "fetching", "digest_mismatch", wrong)
	d.failed("shop", "half", "fetching", "bundle_truncated")
	d.failed("shop", "folder", "fetching", "artifact_unreadable", "log")
}

func place(t *testing.T, dir, name string, data []byte) {
	t.Helper()
	path := filepath.Join(dir, "shop", name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
