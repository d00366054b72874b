//go:build e2e

package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBadSettings starts daemons that must not start: each says why, names
// every wrong setting, and leaves nothing behind [D46].
// spec: [C16.25]
func TestBadSettings(t *testing.T) {
	t.Parallel()
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "svcd.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, tt := range map[string]struct {
		env  []string
		args []string
		want []string
	}{
		"unknown":       {env: []string{"SVC_GATEWAY=1", "SVC_QUEU_MAX=3"}, want: []string{"SVC_GATEWAY: unknown setting", "SVC_QUEU_MAX: unknown setting"}},
		"branch store":  {env: []string{"BRANCH_STORE=gs://x/y"}, want: []string{"BRANCH_STORE=gs://x/y", "s3://bucket/prefix", "an absolute directory"}},
		"elastic":       {env: []string{"SVC_ELASTIC_RUNTIME=yes"}, want: []string{"SVC_ELASTIC_RUNTIME=yes", "want 1 or 0"}},
		"prod fork":     {env: []string{"SVC_PROD_FORK=maybe"}, want: []string{"SVC_PROD_FORK=maybe", "reject, scrub, allow"}},
		"scrub":         {env: []string{"SVC_PROD_FORK=scrub"}, want: []string{"SVC_PROD_FORK=scrub needs a usable SVC_SCRUB_SQL"}},
		"scrub file":    {env: []string{"SVC_SCRUB_SQL=/nowhere/scrub.sql"}, want: []string{"SVC_SCRUB_SQL=/nowhere/scrub.sql", "no such file"}},
		"archive idle":  {env: []string{"SVC_ARCHIVE_IDLE=soon"}, want: []string{"SVC_ARCHIVE_IDLE=soon", "want a duration"}},
		"several":       {env: []string{"PLATFORM_PORT=http", "SVC_QUEUE_MAX=0", "SVC_X=1", "SVC_ROLLBACK_KEEP=-1"}, want: []string{"PLATFORM_PORT=http", "0 to 65535", "SVC_QUEUE_MAX=0", "SVC_X", "SVC_ROLLBACK_KEEP"}},
		"one token":     {env: []string{"SVC_ADMIN_TOKEN=hunter2-long"}, want: []string{"SVC_DEPLOY_TOKEN and SVC_ADMIN_TOKEN: set both"}},
		"open to all":   {env: []string{"SVC_LISTEN_HOST=0.0.0.0"}, want: []string{"SVC_LISTEN_HOST=0.0.0.0 is reachable from outside"}},
		"half a store":  {env: []string{"S3_ENDPOINT=http://127.0.0.1:1", "S3_SECRET_ACCESS_KEY=hunter2-long"}, want: []string{"S3_ENDPOINT needs S3_ACCESS_KEY_ID"}},
		"template":      {env: []string{"SVC_PREVIEW_URL_TEMPLATE=http://{version}.test"}, want: []string{"{project}", "http://{version}.test"}},
		"template glue": {env: []string{"SVC_PREVIEW_URL_TEMPLATE=http://{version}{project}.test"}, want: []string{"keep version and project apart"}},
		"domain":        {env: []string{"SVC_INGRESS_BASE_DOMAIN=10.0.0.1"}, want: []string{"SVC_INGRESS_BASE_DOMAIN=10.0.0.1", "preview.example.com"}},
		"no workerd":    {env: []string{"SVC_WORKERD=/nowhere/workerd"}, want: []string{"/nowhere/workerd"}},
		"not workerd":   {env: []string{"SVC_WORKERD=/bin/true"}, want: []string{"/bin/true"}},
		"file key":      {args: []string{"--config", file("platform_port: 0\nplatform_prot: 1\n")}, want: []string{"unknown setting platform_prot"}},
		"file syntax":   {args: []string{"--config", file("platform_port: [\n")}, want: []string{"config file", "svcd.yaml"}},
		"no file":       {args: []string{"--config", "/nowhere/svcd.yaml"}, want: []string{"/nowhere/svcd.yaml"}},
		"flag":          {args: []string{"--port", "99999"}, want: []string{"PLATFORM_PORT=99999", "0 to 65535"}},
		"unknown flag":  {args: []string{"--prot", "1"}, want: []string{"unknown flag: --prot", "svcctl serve --help"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDaemon(t, tt.env...)
			out, errs, code := d.run(d.home, append([]string{"serve"}, tt.args...)...)
			if code != 2 && !strings.Contains(name, "workerd") && !strings.Contains(name, "template") || code == 0 {
				t.Errorf("exit %d", code)
			}
			for _, want := range tt.want {
				if !strings.Contains(errs, want) {
					t.Errorf("%q is missing in:\n%s", want, errs)
				}
			}
			if out != "" || strings.Contains(errs, "hunter2") || strings.Contains(errs, "goroutine") {
				t.Errorf("printed %q and\n%s", out, errs)
			}
			if _, err := os.Stat(filepath.Join(d.dataDir(), "daemon.json")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a daemon that did not start left its note: %v", err)
			}
		})
	}
}

// TestTwoDaemons starts a second daemon where one runs, and on its ports.
func TestTwoDaemons(t *testing.T) {
	t.Parallel()
	d := started(t)
	_, errs, code := d.run(d.home, "serve")
	if code != 6 || !strings.Contains(errs, d.dataDir()) || !strings.Contains(errs, "--data-dir") {
		t.Errorf("on the same directory: exit %d\n%s", code, errs)
	}
	_, errs, code = d.run(d.home, "serve", "--data-dir", filepath.Join(d.home, "other"), "--port", d.note.API[len("http://127.0.0.1:"):])
	if code != 6 || !strings.Contains(errs, "PLATFORM_PORT") {
		t.Errorf("on the same port: exit %d\n%s", code, errs)
	}
	d.livesOn()
}

// TestUnsupportedBindings deploys directories that ask for what does not run
// here. The CLI says where that stands, and asks the server for nothing.
func TestUnsupportedBindings(t *testing.T) {
	t.Parallel()
	d := started(t)
	const head = "{\n  \"name\": \"shop\", \"main\": \"index.js\", \"compatibility_date\": \"2026-11-01\",\n"
	for name, tt := range map[string]struct {
		config string
		want   []string
	}{
		"loaders":  {head + `  "worker_loaders": [{ "binding": "L" }] }`, []string{"wrangler.jsonc:3:3: worker_loaders is not supported", "does not run it"}},
		"images":   {head + `  "images": { "binding": "I" } }`, []string{"wrangler.jsonc:3:3: images is not supported", "Cloudflare's platform"}},
		"objects":  {head + `  "migrations": [{ "transferred_classes": [{ "from": "Room" }] }] }`, []string{"wrangler.jsonc:3:", "migrations[0].transferred_classes is not supported"}},
		"two":      {head + "  \"images\": { \"binding\": \"I\" },\n  \"vectorize\": [{ \"binding\": \"V\", \"index_name\": \"i\" }] }", []string{"2 problems", "wrangler.jsonc:3:3", "wrangler.jsonc:4:3"}},
		"typo":     {head + `  "kv_namespaces": [{ "bindin": "A" }] }`, []string{"wrangler.jsonc:3:", "did you mean", `"binding"`}},
		"type":     {head + `  "vars": "x" }`, []string{"wrangler.jsonc:3:", "vars"}},
		"syntax":   {head + "  \"vars\": {,} }", []string{"wrangler.jsonc:3:"}},
		"twice":    {head + `  "vars": { "A": "1" }, "kv_namespaces": [{ "binding": "A" }] }`, []string{"wrangler.jsonc:3:", `"A"`, "vars"}},
		"no entry": {`{ "name": "shop", "main": "nope.js", "compatibility_date": "2026-11-01" }`, []string{"nope.js", "does not exist"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := d.on(t)
			out, errs, code := d.run(worker(t, tt.config, map[string]string{"index.js": helloScript}), "deploy", "--wait", "-o", "json")
			if code != 1 || out != "" {
				t.Errorf("exit %d, printed %q", code, out)
			}
			for _, want := range tt.want {
				if !strings.Contains(strings.ReplaceAll(errs, `\"`, `"`), want) {
					t.Errorf("%q is missing in:\n%s", want, errs)
				}
			}
		})
	}
	if page, err := d.client().Projects(t.Context(), noPage); err != nil || len(page.Items) != 0 {
		t.Errorf("a refused deploy made %d projects: %v", len(page.Items), err)
	}
}
