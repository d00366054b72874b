// A worker with a door for each way into a version. Each door writes an id, and acknowledges it
// when the write has returned.
import { DurableObject, WorkflowEntrypoint } from "cloudflare:workers";

let name; // of this process
const process = () => (name ??= crypto.randomUUID());
let returned = []; // ids that waitUntil has written, since they were last asked for

const insert = (env, id) =>
  env.DB.prepare("INSERT OR IGNORE INTO rows VALUES (?, ?, ?)").bind(id, env.VERSION_ID, process()).run();

async function write(env, id) {
  await insert(env, id);
  await env.KV.put(id, "");
}

/** An object whose alarm marks the ids that it was given. */
export class Clock extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS ids (id TEXT PRIMARY KEY, rung INTEGER NOT NULL)");
  }
  async add(id) {
    this.ctx.storage.sql.exec("INSERT OR IGNORE INTO ids VALUES (?, 0)", id);
    await this.ctx.storage.setAlarm(Date.now() + 50);
    await this.ctx.storage.sync();
  }
  alarm() { this.ctx.storage.sql.exec("UPDATE ids SET rung = 1"); }
  all() { return this.ctx.storage.sql.exec("SELECT id, rung FROM ids").raw().toArray(); }
}

/** A workflow whose step writes the id of its instance. */
export class Flow extends WorkflowEntrypoint {
  run(event, step) {
    return step.do("write", { retries: { limit: 50, delay: 10, backoff: "constant" } }, async () => {
      await write(this.env, event.instanceId);
      return event.instanceId;
    });
  }
}

const clock = (env, n) => env.CLOCKS.get(env.CLOCKS.idFromName(String(n)));

async function keys(kv) {
  const names = [];
  for (let cursor; ; ) {
    const list = await kv.list({ cursor });
    names.push(...list.keys.map((k) => k.name));
    if (!(cursor = list.cursor)) return names;
  }
}

const doors = {
  write: async (env, id) => write(env, id),
  send: async (env, id) => env.JOBS.send(id),
  alarm: async (env, id) => clock(env, id.length % 3).add(id),
  flow: async (env, id) => env.FLOW.create({ id }),
  late: async (env, id, ctx) => {
    ctx.waitUntil(scheduler.wait(Math.random() * 100).then(() => write(env, id)).then(() => returned.push(id)));
    return returned.splice(0);
  },
  state: async (env) => ({
    rows: await env.DB.prepare("SELECT id, version, process FROM rows").raw(),
    keys: await keys(env.KV),
    alarms: (await Promise.all([0, 1, 2].map((n) => clock(env, n).all()))).flat(),
  }),
};

export default {
  async fetch(request, env, ctx) {
    const { pathname } = new URL(request.url);
    if (pathname === "/socket") return socket(env);
    const door = doors[pathname.slice(1)];
    if (!door) return new Response(env.VERSION_ID);
    return Response.json((await door(env, await request.text(), ctx)) ?? null);
  },
  async queue(batch, env) {
    for (const m of batch.messages) await write(env, m.body);
  },
  async scheduled(controller, env) {
    await write(env, `cron-${controller.scheduledTime}`);
  },
};

/** A websocket that writes each message and repeats it. */
function socket(env) {
  const { 0: client, 1: server } = new WebSocketPair();
  server.accept();
  server.addEventListener("message", async ({ data }) => {
    try {
      await write(env, data);
      server.send(data);
    } catch (e) {
      server.send(`failed: ${e.message}`);
    }
  });
  return new Response(null, { status: 101, webSocket: client });
}
