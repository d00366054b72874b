//go:build e2e

package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// call is one request to the bookshop and what `wrangler dev` answered to it.
type call struct {
	Path    string            `json:"path"`
	Method  string            `json:"method"`
	Body    json.RawMessage   `json:"body"`
	Headers map[string]string `json:"headers"`
	Status  int               `json:"status"`
	Type    string            `json:"type"`
	ETag    string            `json:"etag"`
	Answer  string            `json:"answer"`
}

// TestAnswersAsWranglerDev deploys a Hono application with its npm dependency
// and compares every answer with those recorded from wrangler dev 4.164.0.
// spec: [C1.8]
func TestAnswersAsWranglerDev(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "bookshop")
	if err := os.CopyFS(dir, os.DirFS("../../../examples/bookshop")); err != nil {
		t.Fatal(err)
	}
	npm := exec.CommandContext(t.Context(), "npm", "ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund")
	npm.Dir = dir
	if out, err := npm.CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
	data, err := os.ReadFile("testdata/bookshop.json")
	if err != nil {
		t.Fatal(err)
	}
	var calls []call
	if err := json.Unmarshal(data, &calls); err != nil {
		t.Fatal(err)
	}
	d := started(t)
	v := d.deploy(dir)
	client := d.http()
	if client.Jar, err = cookiejar.New(nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range calls {
		if diff := cmp.Diff(c, d.answer(client, v.PreviewURL, c)); diff != "" {
			t.Errorf("%s %s (-wrangler +ours):\n%s", c.Method, c.Path, diff)
		}
	}
}

// answer sends c and gives it back with our answer in place of the recorded one.
func (d *daemon) answer(client *http.Client, base string, c call) call {
	d.t.Helper()
	body, isText := string(c.Body), false
	if text := ""; json.Unmarshal(c.Body, &text) == nil {
		body, isText = text, true
	}
	req, err := http.NewRequestWithContext(d.t.Context(), c.Method, base+c.Path, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	if len(c.Body) > 0 && !isText {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range c.Headers {
		req.Header.Set(name, value)
	}
	resp, err := client.Do(req)
	if err != nil {
		d.t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	c.Status, c.Type, c.ETag, c.Answer = resp.StatusCode, resp.Header.Get("Content-Type"), resp.Header.Get("ETag"), string(got)
	return c
}
