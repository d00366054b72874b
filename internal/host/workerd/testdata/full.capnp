using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "user", worker = (modules = [(name = "index.js", esModule = "\nimport text from \"./a.txt\"; import bin from \"./b.bin\"; import conf from \"./c.json\"; import cjs from \"./d.cjs\"; import wasm from \"./e.wasm\";\nimport { WorkerEntrypoint } from \"cloudflare:workers\";\nexport class Api extends WorkerEntrypoint { props() { return this.ctx.props.p; } }\nexport default { async fetch(req, env) {\n  return Response.json({ text, bin: [...new Uint8Array(bin)], conf, cjs, wasm: wasm instanceof WebAssembly.Module,\n    TEXT: env.TEXT, FLAGS: env.FLAGS, props: await env.SELF.props(), wrap: env.WRAP(), kv: typeof env.KV.get, r2: typeof env.R2.get, queue: typeof env.QUEUE.send });\n} };"), (name = "a.txt", text = embed "/run/v/a file.txt"), (name = "b.bin", data = 0x"00ff10"), (name = "c.json", json = "{\"c\":1}"), (name = "d.cjs", commonJsModule = "module.exports = 4"), (name = "e.wasm", wasm = 0x"0061736d01000000")], compatibilityDate = "2026-11-01", compatibilityFlags = ["urlpattern_original"], bindings = [(name = "TEXT", text = "it's \"quoted\" \\ and\nbroken"), (name = "FLAGS", json = "{\"beta\":true}"), (name = "SELF", service = (name = "user", entrypoint = "Api", props = (json = "{\"p\":2}"))), (name = "KV", kvNamespace = "kv"), (name = "R2", r2Bucket = "kv"), (name = "QUEUE", queue = "kv"), (name = "WRAP", wrapped = (moduleName = "svc-internal:wrap", entrypoint = "make", innerBindings = [(name = "inner", text = "it's \"quoted\" \\ and\nbroken")]))], globalOutbound = "net", cacheApiOutbound = "kv")),
    (name = "kv", external = (address = "unix:/run/v/kv", http = (forwardedProtoHeader = "X-Proto", injectRequestHeaders = [(name = "X-Svc-Binding", value = "kv/ns")]))),
    (name = "net", network = (allow = ["public"], deny = ["0.0.0.0/8"], tlsOptions = (trustBrowserCas = true))),
    (name = "files", disk = (path = "/run/v", writable = true)),
  ],
  sockets = [
    (name = "http", address = "unix:/run/v/s", service = "user", http = (forwardedProtoHeader = "X-Proto", cfBlobHeader = "X-Cf")),
  ],
  extensions = [(modules = [
    (name = "svc-internal:wrap", internal = true, esModule = "export function make(env) { return () => env.inner }"),
  ])],
  v8Flags = ["--max-old-space-size=128"],
  logging = (structuredLogging = true),
);
