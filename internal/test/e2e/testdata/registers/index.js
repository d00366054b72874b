// Registers: read, write, and compare-and-set of one number in each kind of store.
import { DurableObject } from "cloudflare:workers";

export class Register extends DurableObject {
  step(op, v, a) {
    const { sql } = this.ctx.storage;
    sql.exec("CREATE TABLE IF NOT EXISTS r (k INTEGER PRIMARY KEY, v INTEGER)");
    const now = sql.exec("SELECT v FROM r").toArray()[0]?.v ?? 0;
    if (op === "read") return { v: now };
    if (op === "cas" && now !== a) return { ok: false };
    sql.exec("INSERT OR REPLACE INTO r VALUES (1, ?)", v);
    return { ok: true };
  }
}

const stores = {
  async d1(env, k, op, v, a) {
    if (op === "read") return { v: (await env.DB.prepare("SELECT v FROM r WHERE k = ?").bind(k).first("v")) ?? 0 };
    if (op === "write") await env.DB.prepare("INSERT OR REPLACE INTO r VALUES (?, ?)").bind(k, v).run();
    if (op === "write") return { ok: true };
    const set = a
      ? env.DB.prepare("UPDATE r SET v = ? WHERE k = ? AND v = ?").bind(v, k, a)
      : env.DB.prepare("INSERT INTO r (v, k) VALUES (?, ?) ON CONFLICT DO NOTHING").bind(v, k);
    return { ok: (await set.run()).meta.changes === 1 };
  },
  async kv(env, k, op, v) {
    if (op === "read") return { v: Number((await env.KV.get(k)) ?? 0) };
    await env.KV.put(k, String(v));
    return { ok: true };
  },
  async r2(env, k, op, v, a) {
    if (op === "write") await env.FILES.put(k, String(v));
    if (op === "write") return { ok: true };
    const object = await env.FILES.get(k);
    const now = object === null ? 0 : Number(await object.text());
    if (op === "read") return { v: now };
    if (now !== a) return { ok: false };
    // No number is written twice: who finds another ETag finds another number.
    const onlyIf = object === null ? new Headers({ "If-None-Match": "*" }) : { etagMatches: object.etag };
    return { ok: (await env.FILES.put(k, String(v), { onlyIf })) !== null };
  },
  object: (env, k, op, v, a) => env.REGISTER.get(env.REGISTER.idFromName(k)).step(op, v, a),
  async queue(env, k, op, v) {
    await env.QUEUE.send(v);
    return { ok: true };
  },
};

export default {
  async fetch(request, env) {
    const { pathname, searchParams: q } = new URL(request.url);
    if (pathname === "/got") return Response.json(await env.DB.prepare("SELECT DISTINCT id FROM got").raw());
    return Response.json(await stores[pathname.slice(1)](env, q.get("k"), q.get("op"), Number(q.get("v")), Number(q.get("a"))));
  },
  async queue(batch, env) {
    await env.DB.batch(batch.messages.map((m) => env.DB.prepare("INSERT INTO got VALUES (?)").bind(m.body)));
  },
};
