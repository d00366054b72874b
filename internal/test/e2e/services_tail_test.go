//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// TestTailConsumers: a worker of another project gets a record of each request and
// scheduled run, with the lines and the exception of it, as the worker made them. Two
// workers that tail each other do not tail each other's tails.
func TestTailConsumers(t *testing.T) {
	t.Parallel()
	d := started(t)
	sink := worker(t, `{ "name": "sink", "main": "index.js", "compatibility_date": "2026-11-01", "tail_consumers": [{ "service": "shop" }],
		"kv_namespaces": [{ "binding": "KV" }] }`, map[string]string{"index.js": `export default {
		async tail(events, env) { for (const e of events) await env.KV.put(crypto.randomUUID(), JSON.stringify(e)); },
		async fetch(request, env) {
			const { keys } = await env.KV.list();
			return new Response("[" + (await Promise.all(keys.map((k) => env.KV.get(k.name)))).join(",") + "]");
		} }`})
	v := d.deploy(sink, "--version", "v1", "--allow-missing", "services")
	shop := worker(t, `{ "name": "shop", "main": "index.js", "compatibility_date": "2026-11-01", "tail_consumers": [{ "service": "sink" }] }`,
		map[string]string{"index.js": `export default {
		async fetch(request) {
			console.log("begins", { at: 1 });
			console.warn(7);
			if (request.url.endsWith("/boom")) throw new TypeError("no good");
			return new Response("ok", { status: 201 });
		},
		scheduled(c) { console.log("runs " + c.cron); },
		tail(events) { console.log("tailed"); } }`})
	p := d.deploy(shop, "--version", "v1")
	d.get(p.PreviewURL + "/one")
	d.get(p.PreviewURL + "/boom")
	if _, notes, code := d.run(shop, "trigger", "scheduled", "shop/v1", "--cron", "* * * * *"); code != 0 {
		t.Fatalf("exit %d, %s", code, notes)
	}
	type record struct {
		ScriptName    string
		ScriptVersion struct{ ID string }
		Outcome       string
		Event         struct {
			Cron     string
			Request  struct{ URL, Method string }
			Response struct{ Status int }
		}
		Logs []struct {
			Level   string
			Message []any
		}
		Exceptions []struct{ Name, Message string }
	}
	got := map[string]record{} // by what the record is about
	svctest.Succeeds(t, "a record of each", func() error {
		var list []record
		body := d.get(v.PreviewURL).Body
		if err := json.Unmarshal([]byte(body), &list); err != nil {
			return fmt.Errorf("%w: %s", err, body)
		}
		for _, r := range list {
			if r.ScriptName != "shop" || r.ScriptVersion.ID != "v1" {
				t.Fatalf("a record of %s/%s", r.ScriptName, r.ScriptVersion.ID)
			}
			_, path, _ := strings.Cut(strings.TrimPrefix(r.Event.Request.URL, "http://"), "/")
			got[path+r.Event.Cron] = r
		}
		for _, about := range []string{"one", "boom", "* * * * *"} {
			if got[about].ScriptName == "" {
				return fmt.Errorf("none of %s: %+v", about, got)
			}
		}
		return nil
	})
	logs := func(r record) string { text, _ := json.Marshal(r.Logs); return string(text) }
	const lines = `[{"Level":"log","Message":["begins",{"at":1}]},{"Level":"warn","Message":[7]}]`
	one, boom, cron := got["one"], got["boom"], got["* * * * *"]
	if one.Outcome != "ok" || one.Event.Response.Status != 201 || one.Event.Request.Method != http.MethodGet || logs(one) != lines || len(one.Exceptions) != 0 {
		t.Errorf("a request: %+v", got)
	}
	if boom.Outcome != "exception" || logs(boom) != lines || len(boom.Exceptions) != 1 || boom.Exceptions[0].Message != "no good" {
		t.Errorf("an exception: %+v", boom)
	}
	if cron.Outcome != "ok" || logs(cron) != `[{"Level":"log","Message":["runs * * * * *"]}]` {
		t.Errorf("a scheduled run: %+v", cron)
	}
	svctest.Succeeds(t, "the exception and the bytes sent in the summary", func() error {
		sum, err := d.client().MetricsSummary(t.Context(), 0)
		for _, of := range sum.Versions {
			if of.ProjectID == "shop" && of.Requests == 2 && of.Exceptions == 1 && of.Bytes > int64(len("ok")) {
				return nil
			}
		}
		return fmt.Errorf("%+v, %w", sum.Versions, err)
	})
}
