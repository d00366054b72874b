//go:build e2e

package e2e

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestDevErrorPage: pages show why the last save is not served, with the lines of the source, and
// reload by themselves; other answers are those of the version before.
func TestDevErrorPage(t *testing.T) {
	t.Parallel()
	worker := func(word string) string {
		return "export default {\n  fetch: (request) => new Response(request.url.endsWith(\"/data\") ? \"data\" : \"<body>" + word + "</body>\",\n" +
			"    { headers: { \"Content-Type\": \"text/html\" } }),\n};\n"
	}
	d := newDeveloper(t, map[string]string{
		"wrangler.jsonc": `{ "name": "page", "main": "src/index.js", "compatibility_date": "2026-11-01" }`, "src/index.js": worker("one"),
	})
	d.start("--live-reload")
	d.await(`save 1 `)
	reloads := d.reloads()
	d.write("src/index.js", "export default {\n  fetch: ) => 1,\n};\n")
	d.await(`still serving save 1`)
	svctest.Wait(t, "a reload", reloads)
	status, page := d.get("/", "Accept:text/html")
	for _, want := range []string{
		`<body>` + "\n" + `<pre role="alert"`, "the worker does not build", "src/index.js:2:10: Unexpected", "    2 |   fetch: ) =&gt; 1,", "~", "one</body>",
		`<script src="/cdn-cgi/svcctl/live.js"`,
	} {
		if status != http.StatusOK || !strings.Contains(page, want) {
			t.Errorf("%d, the page lacks %q:\n%s", status, want, page)
		}
	}
	if _, body := d.get("/data"); body != "data" {
		t.Errorf("the answer for a program: %q", body)
	}
	d.write("src/index.js", worker("three"))
	d.await(`save 2 `)
	svctest.Wait(t, "a reload", reloads)
	if _, page = d.get("/", "Accept:text/html"); strings.Contains(page, "alert") || !strings.Contains(page, "three</body>") {
		t.Errorf("after the error: %s", page)
	}
}

// TestDevExceptionPage: the page of a request that threw has the lines of the source, and what was thrown
// even if it is no error. The terminal has it once.
func TestDevExceptionPage(t *testing.T) {
	t.Parallel()
	d := newDeveloper(t, map[string]string{
		"wrangler.jsonc": `{ "name": "page", "main": "src/index.ts", "compatibility_date": "2026-11-01" }`,
		"src/index.ts":   "export default {\n  fetch(request: Request) {\n    if (request.url.endsWith(\"/object\")) throw { not: \"an error\" };\n    throw new Error(\"boom\");\n  },\n};\n",
	})
	d.start()
	d.await(`save 1 `)
	status, page := d.get("/", "Accept:text/html")
	for _, want := range []string{"<h1>Error: boom</h1>", "src/index.ts:4:11", "&gt;    4 |     throw new Error(", "prefers-color-scheme:dark"} {
		if status != http.StatusInternalServerError || !strings.Contains(page, want) {
			t.Errorf("%d, the page lacks %q:\n%s", status, want, page)
		}
	}
	if status, page = d.get("/object"); status != http.StatusInternalServerError || !strings.HasPrefix(page, "{ not: 'an error' }\n") {
		t.Errorf("%d: %s", status, page)
	}
	d.await(`error \{ not: 'an error' \}`)
	if out := d.out.String(); strings.Contains(out, "#<Object>") || strings.Contains(out, "[object Object]") {
		t.Errorf("the terminal has the exception twice: %s", out)
	}
}

// reloads gives the events that make open pages reload.
func (d *developer) reloads() <-chan struct{} {
	d.t.Helper()
	req, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, d.address+"/cdn-cgi/svcctl/events", nil)
	if err != nil {
		d.t.Fatal(err)
	}
	resp, err := d.client.Do(req)
	if err != nil {
		d.t.Fatal(err)
	}
	events, lines := make(chan struct{}, 16), bufio.NewScanner(resp.Body)
	connected := lines.Scan() // ": connected"
	go func() {
		defer resp.Body.Close()
		for connected && lines.Scan() {
			if lines.Text() == "event: reload" {
				events <- struct{}{}
			}
		}
	}()
	return events
}
