//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/test/svctest"
	"github.com/svcctl/svcctl/pkg/api"
	"github.com/svcctl/svcctl/pkg/client"
)

// on is d with its failures reported to a subtest.
func (d *daemon) on(t *testing.T) *daemon {
	t.Helper()
	c := *d
	c.t = t
	return &c
}

// reply is an answer of the API.
type reply struct {
	status  int
	header  http.Header
	body    string
	problem api.Problem // set if the answer is a problem document
}

// ask sends one request to the API without the SDK, which would correct it.
// headers are pairs of name and value.
func (d *daemon) ask(method, path, token string, body io.Reader, headers ...string) reply {
	d.t.Helper()
	url := path
	if strings.HasPrefix(path, "/") {
		url = d.note.API + path
	}
	req, err := http.NewRequestWithContext(d.t.Context(), method, url, body)
	if err != nil {
		d.t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for pair := range slices.Chunk(headers, 2) {
		req.Header.Add(pair[0], pair[1])
	}
	resp, err := (&http.Client{Timeout: svctest.Patience}).Do(req)
	if err != nil {
		d.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	r := reply{status: resp.StatusCode, header: resp.Header, body: string(data)}
	if resp.Header.Get("Content-Type") == api.ProblemContentType {
		if err := json.Unmarshal(data, &r.problem); err != nil {
			d.t.Fatalf("%s %s: a problem that is none: %v\n%s", method, path, err, data)
		}
	}
	return r
}

// admin and deployer send a request with the token of their role.
func (d *daemon) admin(method, path, body string, headers ...string) reply {
	d.t.Helper()
	return d.ask(method, path, d.note.AdminToken, strings.NewReader(body), headers...)
}

func (d *daemon) deployer(method, path, body string, headers ...string) reply {
	d.t.Helper()
	return d.ask(method, path, d.note.DeployToken, strings.NewReader(body), headers...)
}

// refused checks that r is a problem document with this status and code, whose
// texts contain the words.
func (d *daemon) refused(r reply, status int, code string, words ...string) {
	d.t.Helper()
	p := r.problem
	if r.status != status || p.Status != status || p.Code != code {
		d.t.Errorf("got %d %s, want %d %s\n%s", r.status, p.Code, status, code, r.body)
		return
	}
	if p.Title == "" || p.Detail == "" || p.Instance == "" || p.RequestID == "" || p.RequestID != r.header.Get("X-Request-Id") {
		d.t.Errorf("the problem lacks something: %s", r.body)
	}
	for _, w := range words {
		if !strings.Contains(r.body, w) {
			d.t.Errorf("%q is missing in %s", w, r.body)
		}
	}
}

// project creates a project.
func (d *daemon) project(id string) {
	d.t.Helper()
	if _, err := d.client().CreateProject(d.t.Context(), api.CreateProject{ID: id}); err != nil {
		d.t.Fatal(err)
	}
}

// push creates a version and uploads data as its bundle.
func (d *daemon) push(project string, v api.CreateVersion, data []byte) {
	d.t.Helper()
	v.Upload = true
	accepted, err := d.client().CreateVersion(d.t.Context(), project, v, "")
	if err != nil {
		d.t.Fatal(err)
	}
	if err := d.client().Upload(d.t.Context(), *accepted.Upload, bytes.NewReader(data), nil); err != nil {
		d.t.Fatal(err)
	}
}

// ended waits until a deploy has ended.
func (d *daemon) ended(project, version string) api.Version {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), svctest.Patience)
	defer cancel()
	v, err := d.client().Wait(ctx, project, version, nil)
	var notReady *client.VersionError
	if err != nil && !errors.As(err, &notReady) {
		d.t.Fatalf("%s/%s: %v (%s)", project, version, err, v.Status)
	}
	return v
}

// failed checks that a version ends as failed in a step, for a reason with the
// code, that the reason or the worker's output contains the words, and that
// the daemon removes its files and processes.
func (d *daemon) failed(project, version, step, code string, words ...string) api.Version {
	d.t.Helper()
	v := d.ended(project, version)
	if v.Status != api.VersionStatusFailed {
		d.t.Fatalf("%s/%s is %s, want failed", project, version, v.Status)
	}
	if !strings.HasPrefix(v.Error, step+": "+code+": ") || len(v.Error) > 2<<10 {
		d.t.Errorf("%s/%s: error %q, want %s: %s: ...", project, version, v.Error, step, code)
	}
	for _, w := range words {
		if !strings.Contains(v.Error+"\n"+v.ErrorOutput, w) {
			d.t.Errorf("%s/%s: %q is missing in the error %q and the output %q", project, version, w, v.Error, v.ErrorOutput)
		}
	}
	if last := v.Timeline[len(v.Timeline)-1]; last.Step != step || last.Status != api.StepStatusFailed || last.EndedAt == nil {
		d.t.Errorf("%s/%s: the timeline ends with %+v", project, version, last)
	}
	if v.IsProduction || v.ReadyAt != nil {
		d.t.Errorf("%s/%s failed and is production or was ready: %+v", project, version, v)
	}
	svctest.Succeeds(d.t, "the failure at its host", func() error { // the route follows the record
		if a := d.get(v.PreviewURL); a.Status != 503 || a.Header.Get("Svc-Error") != "version_failed" || a.Header.Get("Retry-After") == "" {
			return fmt.Errorf("%s answers %d %v", v.PreviewURL, a.Status, a.Header)
		}
		return nil
	})
	d.nothingLeft(project, version)
	return v
}

// nothingLeft checks that a version has no process and no file except its logs, and its source maps,
// which name the places in its error.
func (d *daemon) nothingLeft(project, version string) {
	d.t.Helper()
	routes, err := d.client().Routes(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	for _, r := range routes.Items {
		if r.ProjectID == project && r.VersionID == version && (r.PID != 0 || r.Upstream != "" || r.RSSBytes != 0) {
			d.t.Errorf("%s/%s has a runtime left: %+v", project, version, r)
		}
	}
	svctest.Succeeds(d.t, "the files to go", func() error { // they are removed after the status changes
		for _, path := range d.files() {
			if strings.HasSuffix(path+"/", "/cache/"+project+"/"+version+"/") || strings.Contains(path+"/", "/cache/"+project+"/"+version+"/sourcemaps/") {
				continue
			}
			if strings.Contains(path+"/", "/"+project+"/"+version+"/") || strings.Contains(path, "/"+project+"/"+version+".") {
				return errors.New(path + " is there")
			}
		}
		return nil
	})
}

// files lists the data directory without logs, uploads and registry.
func (d *daemon) files() []string {
	d.t.Helper()
	var found []string
	err := filepath.WalkDir(d.dataDir(), func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) { // removed since it was listed
			return nil
		}
		if err != nil {
			return err
		}
		if name := e.Name(); e.IsDir() && (name == "logs" || name == "object-store") {
			return fs.SkipDir
		}
		found = append(found, path)
		return nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return found
}

// idle checks that failed deploys leave no host, no socket directory and no
// half-unpacked bundle once their jobs have ended, which is shortly after the
// versions have failed.
func (d *daemon) idle() {
	d.t.Helper()
	svctest.Succeeds(d.t, "the jobs to end", func() error {
		h, err := d.client().DeepHealth(d.t.Context())
		if err == nil && (h.Status != api.CheckStatusOK || h.Checks.Queue.PendingJobs != 0) {
			err = fmt.Errorf("health: %+v", h)
		}
		return err
	})
	for _, p := range d.processes() {
		if strings.Contains(p, "runtime-host") || strings.Contains(p, "workerd") {
			d.t.Errorf("still running: %s", p)
		}
	}
	for _, path := range d.files() {
		in := filepath.Base(filepath.Dir(path))
		if strings.Contains(path, "unpack") || strings.HasSuffix(path, ".bundle") || in == "v" {
			d.t.Errorf("left behind: %s", path)
		}
	}
}

// livesOn checks that the daemon still deploys and serves.
func (d *daemon) livesOn() {
	d.t.Helper()
	v := d.deploy(hello(d.t, "still here"), "--project", "lives-on")
	if a := d.get(v.PreviewURL); a.Status != 200 || !strings.HasPrefix(a.Body, "still here") {
		d.t.Errorf("a good worker answers %d %s", a.Status, a.Body)
	}
}

// bundled makes the bundle of a worker; files are by path in the bundle and
// index.js is its entry module unless m says otherwise.
func bundled(t *testing.T, m bundle.Manifest, files map[string]string) []byte {
	t.Helper()
	if m.Main == "" {
		m.Main, m.Modules = "index.js", append(m.Modules, bundle.Module{Name: "index.js", Type: bundle.ESModule})
	}
	if m.CompatibilityDate == "" {
		m.CompatibilityDate = "2026-11-01"
	}
	tree := bundle.Tree{}
	for path, content := range files {
		tree[path] = []byte(content)
	}
	var b bytes.Buffer
	if _, err := bundle.Pack(&b, m, tree); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// script is the bundle of a worker of one module.
func script(t *testing.T, source string) []byte {
	t.Helper()
	return bundled(t, bundle.Manifest{}, map[string]string{"modules/index.js": source})
}

const helloScript = `export default { fetch: () => new Response("hello") }`

// noPage selects the first page of a list.
var noPage client.Page
