// A worker whose handlers write down what they get, and take long enough to be killed.
import { WorkflowEntrypoint } from "cloudflare:workers";

const LONG = 200; // milliseconds

export class Chain extends WorkflowEntrypoint {
  async run(event, step) {
    let last = "nothing";
    for (const name of ["1", "2", "3"]) {
      const before = last;
      last = await step.do(name, { retries: { limit: 50, delay: 10, backoff: "constant" } }, async () => {
        await this.env.KV.put(`saw/${event.instanceId}.${name}/${before}`, "");
        await scheduler.wait(LONG);
        return crypto.randomUUID();
      });
    }
    return last;
  }
}

// names yields the names of keys without their prefix.
async function names(kv, prefix) {
  const out = [];
  for (let cursor; ; ) {
    const list = await kv.list({ prefix, cursor });
    out.push(...list.keys.map((k) => k.name.slice(prefix.length)));
    if (!(cursor = list.cursor)) return out;
  }
}

export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    const n = searchParams.get("n");
    if (pathname === "/send") await env.JOBS.sendBatch(Array.from({ length: 5 }, (_, i) => ({ body: `${n}-${i}` })));
    if (pathname === "/create") await env.CHAIN.create({ id: `i${n}` });
    if (pathname !== "/state") return new Response("ok");
    const saw = {};
    const cron = {};
    for (const [step, result] of (await names(env.KV, "saw/")).map((s) => s.split("/"))) (saw[step] ??= []).push(result);
    for (const [due] of (await names(env.KV, "cron/")).map((s) => s.split("/"))) cron[due] = (cron[due] ?? 0) + 1;
    return Response.json({ got: await names(env.KV, "got/"), saw, cron });
  },
  async queue(batch, env) {
    await scheduler.wait(LONG);
    for (const m of batch.messages) await env.KV.put(`got/${m.body}`, "");
  },
  async scheduled(controller, env) {
    await env.KV.put(`cron/${controller.scheduledTime}/${crypto.randomUUID()}`, "");
    await scheduler.wait(10 * LONG);
  },
};
