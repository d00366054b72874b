// Runs the client of smoke.ts, which make test-client has generated and compiled, against a
// real server.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { start } from "../dashboard/server.mjs";
import { smoke } from "./build/smoke.js";

/** ask reads the body of a worker; its host name need not resolve. */
const ask = (text) =>
  new Promise((done, fail) => {
    const url = new URL(text);
    const r = request({ host: "127.0.0.1", port: url.port, path: url.pathname, headers: { Host: url.host } }, async (answer) => done(Buffer.concat(await answer.toArray()).toString()));
    r.on("error", fail);
    r.end();
  });

const server = await start();
try {
  const dir = join(server.dir, "worker"), file = join(server.dir, "typed.tar.zst");
  mkdirSync(dir);
  writeFileSync(join(dir, "wrangler.json"), JSON.stringify({ name: "typed", main: "index.js", compatibility_date: "2026-11-01", kv_namespaces: [{ binding: "KV" }] }));
  writeFileSync(join(dir, "index.js"), `export default { fetch: () => new Response("typed") };`);
  server.run("bundle", dir, "--outfile", file);
  await smoke(server.url, { admin: "admin-token-of-the-test", deploy: "deploy-token-of-the-test" }, new Uint8Array(readFileSync(file)), ask);
  console.log("the generated client works");
} finally {
  await server.stop();
}
