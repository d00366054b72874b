// Answers one request with what the files export. Definitions may be values, promises or functions of
// the context; a binding to another worker may name its definition.
const CROSS = ["durable-object", "worker", "workflow"];
const plain = (v) => (v === undefined ? undefined : JSON.parse(JSON.stringify(v)));

async function worker(config, of) {
  const worker = { ...(await of(config)) };
  if (worker.entrypoint && typeof worker.entrypoint === "object") worker.entrypoint = worker.entrypoint.default;
  if (!worker.env) return worker;
  worker.env = { ...worker.env };
  for (const [name, binding] of Object.entries(worker.env)) {
    if (binding === false || binding == null) delete worker.env[name];
    else if (CROSS.includes(binding.type) && typeof binding.worker !== "string" && binding.worker != null) {
      const target = await of(binding.worker);
      worker.env[name] = { ...binding, worker: target.name ?? (await of(target.worker))?.name };
    }
  }
  return worker;
}

export default {
  async fetch(request) {
    const { env, mode, isPreview, tooling } = await request.json();
    try {
      for (const name of Object.keys(process.env)) delete process.env[name];
      Object.assign(process.env, env);
      const context = { mode, isPreview }, done = new Map();
      const of = (v) => {
        if (!done.has(v)) done.set(v, Promise.resolve(typeof v === "function" ? v(context) : v));
        return done.get(v);
      };
      const files = await import("config.js");
      const missing = (file) => Object.assign(new Error("there is no default export"), { stack: "", file });
      if (!("default" in files.config)) throw missing("config");
      if (tooling && !("default" in files.tooling)) throw missing("tooling");
      let config = await of(files.config.default);
      if (config === null || typeof config !== "object") throw new Error("the default export is " + (config === null ? "null" : typeof config) + ", and must be an object");
      if (config.worker === undefined && (config.name ?? config.entrypoint ?? config.compatibilityDate) !== undefined) config = { worker: config };
      return Response.json({
        worker: config.worker === undefined ? undefined : plain(await worker(config.worker, of)), containers: config.containers?.length ?? 0,
        own: plain(files.config.svcctl), tooling: tooling ? plain(await of(files.tooling.default)) : undefined,
      });
    } catch (e) {
      return Response.json({ message: String(e?.message ?? e), name: e?.name ?? "", stack: String(e?.stack ?? ""), file: e?.file }, { status: 500 });
    }
  },
};
