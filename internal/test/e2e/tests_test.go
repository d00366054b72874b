//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/svcctl/svcctl/internal/test/svctest"
)

// notes is the worker that the tests of this file test.
func notes(t *testing.T) string {
	t.Helper()
	dir := svctest.Files(t, map[string]string{
		"wrangler.jsonc": `{ "name": "notes", "main": "w.js", "compatibility_date": "2026-11-01", "d1_databases": [{ "binding": "DB", "database_name": "notes" }],
			"kv_namespaces": [{ "binding": "KV" }], "r2_buckets": [{ "binding": "FILES", "bucket_name": "files" }], "triggers": { "crons": ["* * * * *"] },
			"queues": { "producers": [{ "binding": "JOBS", "queue": "jobs" }], "consumers": [{ "queue": "jobs", "max_batch_timeout": 0 }] },
			"durable_objects": { "bindings": [{ "name": "ROOM", "class_name": "Room" }] }, "exports": { "Room": { "type": "durable-object" } } }`,
		"migrations/0001_notes.sql": "create table notes (text text);",
		"w.js": `import { DurableObject } from "cloudflare:workers";
export class Room extends DurableObject { async add() { const n = ((await this.ctx.storage.get("n")) ?? 0) + 1; await this.ctx.storage.put("n", n); return n; } }
export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === "/room") return new Response(String(await env.ROOM.getByName("a").add()));
    if (pathname === "/old") return Response.redirect(new URL("/notes", request.url), 302);
    if (pathname === "/job") { await env.JOBS.send({ text: "from a job" }); return new Response(null, { status: 202 }); }
    if (request.method === "POST") { const text = await request.text(); console.log("stored", text); await env.DB.prepare("insert into notes values (?)").bind(text).run(); }
    return Response.json((await env.DB.prepare("select text from notes order by rowid").all()).results.map((r) => r.text));
  },
  async queue(batch, env) { for (const m of batch.messages) await env.DB.prepare("insert into notes values (?)").bind(m.body.text).run(); },
  async scheduled(c, env) { await env.KV.put("last", c.cron); },
};`,
		"package.json": `{ "type": "module" }`,
		"seed.js": `import { parent } from "@svcctl/test";
const p = await parent(); await p.d1("DB").exec("insert into notes values ('seeded')"); await p.fetch("/room");`,
	})
	if err := os.CopyFS(filepath.Join(dir, "node_modules/@svcctl/test"), os.DirFS("../../../packaging/npm/test")); err != nil {
		t.Fatal(err)
	}
	return dir
}

const nodeTests = `import assert from "node:assert/strict";
import { test, describe, configure, branch } from "@svcctl/test/node";
const many = configure({ prepare: 3 });
describe("data", { concurrency: 4 }, () => {
  for (let i = 0; i < 8; i++) many.test("test " + i + " has data of its own", async (t, worker) => {
    assert.deepEqual(await (await worker.fetch("/old")).json(), ["seeded"]);
    await worker.fetch("/notes", { method: "POST", body: "note " + i });
    assert.deepEqual(await worker.d1("DB").query("select text from notes where text like ?", "note%"), [{ text: "note " + i }]);
    assert.equal(await (await worker.fetch("/room")).text(), "2");
  });
});
test("all bindings", async (t, worker) => {
  await worker.kv("KV").put("a/b", { x: 1 });
  assert.deepEqual(await worker.kv("KV").get("a/b", "json"), { x: 1 });
  assert.equal(await worker.kv("KV").get("none"), null);
  assert.deepEqual(await worker.kv("KV").list("a"), ["a/b"]);
  await worker.r2("FILES").put("x/y.txt", "hello", { contentType: "text/plain" });
  assert.equal(await (await worker.r2("FILES").get("x/y.txt")).text(), "hello");
  assert.deepEqual(await worker.r2("FILES").list(), ["x/y.txt"]);
  await worker.cron("* * * * *");
  assert.equal(await worker.kv("KV").get("last"), "* * * * *");
  await worker.fetch("/job");
  await worker.queue("jobs").send({ text: "sent by the test" });
  await worker.queue("jobs").drained();
  assert.equal((await worker.d1("DB").first("select count(*) n from notes where text like '%job' or text like 'sent%'")).n, 2);
  assert.equal(await (await fetch(await worker.listen() + "/room")).text(), "2");
});
test("an asleep branch", { asleep: true, prepare: 0 }, async (t, worker) => { assert.equal((await worker.fetch("/notes")).status, 200); });
`

// TestBranchForEachTest runs node:test with the package of npm: each test has the data of the parent, alone.
func TestBranchForEachTest(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	dir := notes(t)
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.test.js", nodeTests)
	if out, errs, code := d.run(dir, "test", "--seed", "node seed.js", "--", "node", "--test", "--test-reporter=tap"); code != 0 || !strings.Contains(out, "# pass 10") {
		t.Fatalf("exit %d\n%s\n%s", code, errs, out)
	}
	write("a.test.js", `import assert from "node:assert/strict"; import { test } from "@svcctl/test/node";
test("a list: of 2 / notes", async (t, worker) => { await worker.fetch("/", { method: "POST", body: "mine" }); assert.equal(1, 2); });
test("fine", async (t, worker) => {});`)
	out, errs, code := d.run(dir, "test", "--", "node", "--test", "--test-reporter=tap")
	kept := filepath.Join(dir, ".svcctl/test/a-list-of-2-notes")
	log, _ := os.ReadFile(filepath.Join(kept, "log.txt"))
	data, _ := os.ReadFile(filepath.Join(kept, "data.jsonl"))
	if code != 1 || !strings.Contains(out+errs, kept) || !strings.Contains(string(log), "stored mine") || !strings.Contains(string(data), "mine") {
		t.Errorf("exit %d\n%s\n%s\nlog %s\ndata %s", code, errs, out, log, data)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".svcctl/test/*")); len(left) != 1 {
		t.Errorf("kept: %q", left)
	}
	if _, errs, code := d.run(dir, "test", "node"); code != 2 || !strings.Contains(errs, "comes after --") {
		t.Errorf("without --: exit %d, %s", code, errs)
	}
	if out, errs, code := d.run(dir, "test", "--", "sh", "-c", "exit 42"); code != 42 {
		t.Errorf("exit %d: %s %s", code, errs, out)
	}
	if _, errs, code := d.run(dir, "test", "--seed", "exit 3", "--", "true"); code != 3 || !strings.Contains(errs, "--seed failed") {
		t.Errorf("a seed that fails: exit %d: %s", code, errs)
	}
}

// TestBranchesOfVitest runs vitest and Playwright with their fixtures.
func TestBranchesOfVitest(t *testing.T) {
	t.Parallel()
	d := newDaemon(t)
	dir := notes(t)
	install := exec.CommandContext(t.Context(), "npm", "install", "--no-audit", "--no-fund", "--no-save", "vitest@4.1.12", "@playwright/test@1.65.1")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("npm install: %v\n%s", err, out)
	}
	if err := os.CopyFS(filepath.Join(dir, "node_modules/@svcctl/test"), os.DirFS("../../../packaging/npm/test")); err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"a.test.js": `import { expect, test, describe } from "@svcctl/test/vitest";
describe.concurrent("data", () => { for (let i = 0; i < 4; i++) test("test " + i, async ({ worker, expect }) => {
  await worker.fetch("/", { method: "POST", body: "n" + i });
  expect(await (await worker.fetch("/")).json()).toEqual(["n" + i]);
}); });
test("fails", async ({ worker }) => { await worker.fetch("/", { method: "POST", body: "mine" }); expect(1).toBe(2); });`,
		"vitest.config.js": `export default { test: { include: ["a.test.js"], testTimeout: 120_000 } };`,
		"play/p.spec.js": `import { expect, test } from "@svcctl/test/playwright";
for (const n of ["a", "b"]) test("notes " + n, async ({ request }) => {
  await request.post("/", { data: n });
  expect(await (await request.get("/")).json()).toEqual([n]);
});
test("fails", async ({ worker }) => { await worker.fetch("/", { method: "POST", body: "mine" }); expect(1).toBe(2); });`,
		"playwright.config.js": `export default { testDir: "play", fullyParallel: true, workers: 2, reporter: "line" };`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		command []string
		passed  string
		kept    string
	}{
		{[]string{"vitest", "run"}, `Tests .*1 failed.*4 passed`, "a.test.js-fails"},
		{[]string{"playwright", "test"}, `1 failed[\s\S]*2 passed`, "p.spec.js-fails"},
	} {
		out, errs, code := d.run(dir, append([]string{"test", "--"}, test.command...)...)
		kept, _ := filepath.Glob(filepath.Join(dir, ".svcctl/test/*fails*/data.jsonl"))
		if code != 1 || !regexp.MustCompile(test.passed).MatchString(out) || len(kept) != 1 {
			t.Errorf("%v: exit %d, kept %q\n%s\n%s", test.command, code, kept, errs, out)
		}
	}
}
