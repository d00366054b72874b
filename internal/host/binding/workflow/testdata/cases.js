// Cases of workflows, which run on workerd's simulator and on svcctl. POST /<case> answers what happened.
import { WorkflowEntrypoint } from "cloudflare:workers";
import { NonRetryableError } from "cloudflare:workflows";

const now = { retries: { limit: 2, delay: 1, backoff: "constant" } };
const log = []; // what steps did
// tell describes an exception. The simulator's errors lose their names on the way to the worker and have them in their
// messages; ours keep them.
const tell = (e) => ({ error: e.name === "Error" ? e.message : `${e.name}: ${e.message}`, isError: e instanceof Error });

const flows = {
  values: async (event, step) => {
    const rich = await step.do("rich", async () => ({
      d: new Date(5), m: new Map([[1, new Set(["a"])]]), b: new Uint8Array([1, 2]), n: NaN, z: -0, u: undefined, i: 10n, r: /a/g, e: new TypeError("x"),
      $: "dollar", list: [null, true, "s"],
    }));
    await step.sleep("rest", "10 milliseconds");
    return { rich, payload: event.payload, at: event.timestamp instanceof Date, keys: Object.keys(event).sort() };
  },
  retries: async (event, step) => {
    const done = await step.do("third time", now, async (ctx) => {
      log.push(ctx);
      if (ctx.attempt < 3) throw new TypeError(`attempt ${ctx.attempt}`);
      return "at last";
    });
    return { done, log };
  },
  exhausted: async (event, step) => {
    try {
      await step.do("never", now, async () => { log.push("try"); throw new RangeError("no"); });
    } catch (e) {
      return { caught: tell(e), log };
    }
  },
  final: async (event, step) => {
    try {
      await step.do("final", now, async () => { log.push("try"); throw new NonRetryableError("stop it"); });
    } catch (e) {
      return { caught: e.message.includes("stop it"), log };
    }
  },
  unhandledFinal: async (event, step) => { await step.do("final", async () => { throw new NonRetryableError("stop it"); }); },
  throws: async () => { throw new TypeError("from run"); },
  timeout: async (event, step) => {
    try {
      await step.do("slow", { timeout: 30, retries: { limit: 0, delay: 1 } }, () => new Promise((r) => setTimeout(r, 600_000)));
    } catch (e) {
      return tell(e);
    }
  },
  delays: async (event, step) => step.do("delayed", { retries: { limit: 1, delay: ({ ctx, error }) => { log.push(ctx.attempt, error.message); return "1 millisecond"; } } }, async ({ attempt, config }) => {
    if (attempt === 1) throw new Error("once");
    return { log, config };
  }),
  badDelay: async (event, step) => {
    try {
      await step.do("delayed", { retries: { limit: 1, delay: () => "soon" } }, async () => { throw new Error("once"); });
    } catch (e) {
      return tell(e);
    }
  },
  names: async (event, step) => {
    const out = [];
    for (let i = 0; i < 3; i++) out.push(await step.do("same", async ({ step }) => step));
    for (const bad of ["x".repeat(257), "a\nb"]) {
      try { await step.do(bad, async () => 1); } catch (e) { out.push(tell(e)); }
    }
    for (const config of [{ retries: { limit: -1, delay: 1 } }, { timeout: "soon" }, { more: 1 }]) {
      try { await step.do("config", config, async () => 1); } catch (e) { out.push(tell(e)); }
    }
    try { await step.do("none"); } catch (e) { out.push(tell(e)); }
    return out;
  },
  parallel: async (event, step) => Promise.all([
    step.do("a", async () => "a"), step.sleep("s", 20).then(() => "slept"), step.do("b", async () => "b"),
  ]),
  past: async (event, step) => {
    const out = [];
    for (const f of [() => step.sleepUntil("until", new Date(0)), () => step.sleep("back", -5)]) {
      try { await f(); out.push("slept"); } catch (e) { out.push(tell(e)); }
    }
    return out;
  },
  caughtLater: async (event, step) => {
    const failing = step.do("fails", { retries: { limit: 0, delay: 1 } }, async () => { throw new TypeError("first"); });
    const slow = await step.do("slow", async () => { await scheduler.wait(20); return "slow"; });
    return [slow, await failing.catch(tell)];
  },
  large: async (event, step) => {
    try {
      await step.do("large", { retries: { limit: 0, delay: 1 } }, async () => "x".repeat(9 << 20));
    } catch (e) {
      return tell(e);
    }
  },
  function: async (event, step) => step.do("f", async () => () => 1),
  badOutput: async () => () => 1,
  event: async (event, step) => {
    const first = await step.waitForEvent("first", { type: "go" });
    const second = await step.waitForEvent("second", { type: "go", timeout: "1 hour" });
    return [first.payload, first.type, first.timestamp instanceof Date, second.payload];
  },
  eventTimeout: async (event, step) => {
    try {
      await step.waitForEvent("never", { type: "go", timeout: 20 });
    } catch (e) {
      return tell(e);
    }
  },
  long: async (event, step) => {
    await step.do("one", async () => log.push("one"));
    await step.sleep("long", "1 hour");
    return log;
  },
};

export class Flow extends WorkflowEntrypoint {
  async run(event, step) {
    return flows[event.payload.flow](event, step);
  }
}

const ended = ["complete", "errored", "terminated"];

async function until(instance, ...states) {
  for (;;) {
    const s = await instance.status();
    if (states.includes(s.status)) return { status: s.status, output: s.output, error: s.error };
    await scheduler.wait(2);
  }
}

const show = (s) => JSON.stringify(s, (k, v) => {
  if (typeof v === "bigint") return `${v}n`;
  if (v instanceof Map || v instanceof Set || v instanceof Uint8Array) return { [v.constructor.name]: [...v] };
  if (v instanceof RegExp || v instanceof Error) return String(v);
  if (Object.is(v, -0)) return "-0";
  if (v !== v) return "NaN";
  if (v === undefined) return "undefined";
  return v;
});

const attempt = async (f) => { try { return (await f()) ?? null; } catch (e) { return tell(e); } };

const calls = {
  events: async (B) => {
    const i = await B.create({ params: { flow: "event" } });
    await i.sendEvent({ type: "other", payload: 0 });
    await i.sendEvent({ type: "go", payload: { n: 1 } });
    await i.sendEvent({ type: "go", payload: new Date(7) });
    return until(i, ...ended);
  },
  eventWhileItSleeps: async (B) => {
    const i = await B.create({ params: { flow: "event" } });
    await until(i, "waiting");
    await i.sendEvent({ type: "go", payload: 1 });
    await i.sendEvent({ type: "go", payload: 2 });
    return until(i, ...ended);
  },
  pause: async (B) => {
    const i = await B.create({ params: { flow: "long" } });
    const seen = [(await until(i, "waiting")).status];
    await i.pause();
    await i.pause();
    seen.push((await i.status()).status);
    await i.resume();
    seen.push((await until(i, "waiting")).status, await attempt(() => i.resume()));
    await i.terminate();
    seen.push(await i.status(), await attempt(() => i.terminate()), await attempt(() => i.resume()), await attempt(() => i.pause()), await attempt(() => i.sendEvent({ type: "go", payload: 1 })));
    return seen;
  },
  restart: async (B) => {
    const i = await B.create({ params: { flow: "retries" } });
    const first = await until(i, ...ended);
    log.length = 0;
    await i.restart();
    return [first, await until(i, ...ended), await attempt(() => i.restart({ from: { name: "nothing" } }))];
  },
  ids: async (B) => {
    const made = await B.create({ id: "named", params: { flow: "throws" } });
    const batch = await B.createBatch([{ id: "named", params: { flow: "throws" } }, { id: "other", params: { flow: "throws" } }]);
    const object = await B.createBatch({ instances: [{ id: "named" }, { id: "x", params: { flow: "throws" } }, { id: "x" }] });
    const counted = await B.createBatch({ count: 3, params: { flow: "throws" } });
    return [
      made.id, batch.map((i) => i.id), object.created.map((i) => i.id), object.errors, counted.created.length,
      await attempt(async () => (await B.get("other")).id), await attempt(() => B.get("none")),
      await attempt(() => B.create({ id: "named" })), await attempt(() => B.create({ id: "a b" })), await attempt(() => B.createBatch([])),
      await attempt(() => B.createBatch({ instances: [] })), await attempt(() => B.createBatch({ count: 0 })), await attempt(() => B.createBatch("x")),
    ];
  },
};

export default {
  async fetch(request, env) {
    const name = new URL(request.url).pathname.slice(1);
    log.length = 0;
    if (name === "") return Response.json([...Object.keys(flows).filter((f) => !["event", "long"].includes(f)), ...Object.keys(calls)]);
    const answer = calls[name] ? await calls[name](env.B) : await until(await env.B.create({ params: { flow: name } }), ...ended);
    return new Response(show(answer));
  },
};
