//go:build e2e

package e2e

import (
	"net/http"
	"strings"
	"testing"
)

// TestPagesFunctions deploys a Pages project with a folder of functions: they are compiled,
// routed by their paths, and pass on to the static files.
func TestPagesFunctions(t *testing.T) {
	t.Parallel()
	d := started(t)
	dir := worker(t, `{ "name": "functions", "compatibility_date": "2026-11-01", "pages_build_output_dir": "dist", "vars": { "GREETING": "hello" } }`, map[string]string{
		"dist/index.html": "<h1>index</h1>", "dist/page.txt": "page", "dist/404.html": "nothing here",
		"functions/_middleware.ts": `type Context = { request: Request, data: Record<string, string>, next: () => Promise<Response> };
			const mark = async ({ data, next }: Context) => {
				data.by = "middleware";
				const response = await next();
				response.headers.set("X-Marked", "yes");
				return response;
			};
			const guard = ({ request, next }: Context) => new URL(request.url).pathname === "/secret" ? new Response("keep out", { status: 401 }) : next();
			export const onRequest = [mark, guard];`,
		"functions/index.ts":        `export const onRequestPost = async ({ request, env }) => new Response(env.GREETING + " " + await request.text(), { status: 201 });`,
		"functions/api/[id].ts":     `export const onRequest = ({ params, data, functionPath }) => Response.json({ id: params.id, by: data.by, functionPath });`,
		"functions/api/all.js":      `import { text } from "../lib/text"; export const onRequestGet = () => new Response(text);`,
		"functions/api/fail.js":     `export const onRequest = ({ passThroughOnException }) => { passThroughOnException(); throw new Error("broken"); };`,
		"functions/lib/text.ts":     `export const text: string = "everything";`,
		"functions/files/[[at]].ts": `export const onRequestGet = ({ params }) => Response.json(params.at ?? "none");`,
		"functions/other.ts":        `export const onRequest = ({ next }) => next("/page.txt");`,
	})
	v := d.deploy(dir, "--version", "v1")
	for _, test := range []struct {
		method, path string
		status       int
		want         string
	}{
		{"GET", "/", 200, "<h1>index</h1>"},
		{"POST", "/", 201, "hello body"},
		{"GET", "/page.txt", 200, "page"},
		{"GET", "/gone", 404, "nothing here"},
		{"GET", "/secret", 401, "keep out"},
		{"GET", "/api/7", 200, `{"id":"7","by":"middleware","functionPath":"/api/7"}`},
		{"GET", "/api/7/", 200, `{"id":"7","by":"middleware","functionPath":"/api/7/"}`},
		{"GET", "/api/all", 200, "everything"},
		{"POST", "/api/all", 200, `{"id":"all","by":"middleware","functionPath":"/api/all"}`},
		{"GET", "/api/fail", 404, "nothing here"},
		{"GET", "/files", 200, `"none"`},
		{"GET", "/files/a/b", 200, `["a","b"]`},
		{"GET", "/other", 200, "page"},
	} {
		body := map[string]string{http.MethodPost: "body"}[test.method]
		a, err := fetch(t.Context(), d.http(), test.method, v.PreviewURL+test.path, body)
		if err != nil || a.Status != test.status || strings.TrimSpace(a.Body) != test.want {
			t.Errorf("%s %s: %d %q %v", test.method, test.path, a.Status, a.Body, err)
		}
		if marked := a.Header.Get("X-Marked") == "yes"; marked != (test.path != "/api/fail") {
			t.Errorf("%s %s: middleware ran: %v", test.method, test.path, marked)
		}
	}
}
