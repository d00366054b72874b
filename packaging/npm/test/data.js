// The data of a version, through the API: what the worker sees as its bindings.
import { call, json, path } from "./api.js";

const at = (s, version, rest) => path(s, version, rest);
const part = encodeURIComponent;

// d1 runs SQL on a database. query returns the rows of the last statement.
export function d1(s, version, binding) {
  const run = async (sql, params, readOnly) => (await json(s, "POST", at(s, version, "/database/query"), { sql, params, binding, read_only: readOnly })).results;
  return {
    query: async (sql, ...params) => (await run(sql, params, false)).at(-1)?.results ?? [],
    first: async (sql, ...params) => (await run(sql, params, false)).at(-1)?.results[0] ?? null,
    exec: async (sql) => { await run(sql, [], false); },
  };
}

export function kv(s, version, binding) {
  const key = (name) => at(s, version, `/kv/${part(binding)}/values/${part(name)}`);
  return {
    async get(name, type = "text") {
      const r = await call(s, "GET", key(name)).catch((e) => { if (e.code === "key_not_found") return null; throw e; });
      return r && { text: () => r.text(), json: () => r.json(), arrayBuffer: () => r.arrayBuffer() }[type]();
    },
    put: async (name, value) => { await call(s, "PUT", key(name), { body: typeof value === "string" || value instanceof Uint8Array ? value : JSON.stringify(value) }); },
    delete: async (name) => { await call(s, "DELETE", key(name)); },
    list: async (prefix = "") => (await json(s, "GET", at(s, version, `/kv/${part(binding)}/keys?limit=1000&prefix=${part(prefix)}`))).items.map((k) => k.name),
  };
}

export function r2(s, version, binding) {
  const key = (name) => at(s, version, `/objects/${part(binding)}/${part(name)}`);
  return {
    async get(name) {
      const r = await call(s, "GET", key(name)).catch((e) => { if (e.code === "object_not_found") return null; throw e; });
      return r && new Response(await r.arrayBuffer(), { headers: { "content-type": r.headers.get("content-type") ?? "application/octet-stream" } });
    },
    put: async (name, value, { contentType = "application/octet-stream" } = {}) => { await call(s, "PUT", key(name), { body: Buffer.from(value), headers: { "content-type": contentType } }); },
    delete: async (name) => { await call(s, "DELETE", key(name)); },
    list: async (prefix = "") => (await json(s, "GET", at(s, version, `/objects/${part(binding)}?limit=1000&prefix=${part(prefix)}`))).items.map((o) => o.key),
  };
}

// queue is named as in the project file. drained waits until the worker has received all messages.
export function queue(s, version, name) {
  const of = (rest = "") => at(s, version, `/queues/${part(name)}${rest}`);
  return {
    send: async (body) => { await json(s, "POST", of("/messages"), { body, content_type: typeof body === "string" ? "text" : "json" }); },
    messages: async () => (await json(s, "GET", of("/messages?limit=100"))).items,
    async drained({ timeout = 10_000 } = {}) {
      for (const began = Date.now(); ; await new Promise((done) => setTimeout(done, 10))) {
        const q = await json(s, "GET", of());
        if (q.ready + q.delayed + q.inflight === 0) return;
        if (Date.now() - began > timeout) throw new Error(`the queue ${name} has ${q.ready} ready, ${q.delayed} delayed and ${q.inflight} delivered messages after ${timeout} ms`);
      }
    },
  };
}
