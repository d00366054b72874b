// Starts a server in a directory of its own, and fills it.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { request } from "node:http";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { corpus } from "./corpus.mjs";

const root = resolve(import.meta.dirname, "../..");
const svcctl = join(root, "bin/svcctl");

export async function freePort() {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address();
  probe.close();
  return port;
}

/** start starts a server; the result runs svcctl, sends requests to workers, and stops. */
export async function start() {
  const dir = mkdtempSync(join(tmpdir(), "svcctl-dashboard-"));
  const [api, gateway] = [await freePort(), await freePort()];
  const tokens = join(dir, "tokens.yaml");
  writeFileSync(tokens, "tokens:\n- {name: team, role: read, token: read-token-of-the-test}\n");
  const env = {
    ...process.env, SVC_DATA_DIR: join(dir, "data"), PLATFORM_PORT: api, GATEWAY_PORT: gateway, GATEWAY_URL: `http://localhost:${gateway}`,
    SVC_INGRESS_BASE_DOMAIN: "localhost", SVC_EMBEDDED_S3_ADDR: "127.0.0.1:0", SVC_ADMIN_TOKEN: "admin-token-of-the-test", SVC_DEPLOY_TOKEN: "deploy-token-of-the-test",
    SVC_TOKENS_FILE: tokens, SVC_LOG_LEVEL: "warn", SVCCTL_SERVER: `http://127.0.0.1:${api}`, SVCCTL_ADMIN_TOKEN: "admin-token-of-the-test",
    SVCCTL_DEPLOY_TOKEN: "deploy-token-of-the-test", XDG_CONFIG_HOME: join(dir, "config"),
  };
  const daemon = spawn(join(root, "bin/svcd"), ["serve"], { env, stdio: ["ignore", "pipe", "inherit"] });
  daemon.stdout.resume();
  const run = (...args) => execFileSync(svcctl, args, { env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  const deadline = Date.now() + 60_000;
  for (;;) {
    try { run("projects", "list"); break; } catch (e) { if (Date.now() > deadline || daemon.exitCode !== null) throw e; }
  }
  const ask = (host, path, body) => new Promise((done, fail) => {
    const r = request({ host: "127.0.0.1", port: gateway, path, method: body ? "POST" : "GET", headers: { Host: host } }, (answer) => {
      answer.resume();
      answer.on("end", () => done(answer.statusCode));
    });
    r.on("error", fail);
    r.end(body);
  });
  const stop = async () => {
    daemon.kill("SIGTERM");
    if (daemon.exitCode === null) await once(daemon, "exit");
    rmSync(dir, { recursive: true, force: true });
  };
  const signal = (name) => daemon.kill(name);
  return { url: `http://127.0.0.1:${api}`, dir, run, ask, signal, stop };
}

/** fill deploys versions with usual texts in a project, and hostile ones in another. */
export async function fill(server) {
  const guestbook = join(root, "examples/guestbook"), hostile = join(import.meta.dirname, "worker");
  const deploy = (dir, project, version, ref, sha, ...more) =>
    server.run("--cwd", dir, "deploy", "--project", project, "--version", version, "--git-ref", ref, "--git-sha", sha, "--wait", ...more);
  deploy(guestbook, "shop", "v6", "main", "0f3c9aa1");
  deploy(guestbook, "shop", "v7", "main", "7be01d42", "--parent", "none", "--leave-writes", "--promote");
  deploy(guestbook, "shop", "staging", "staging", "c41d9f07");
  deploy(guestbook, "shop", "pr-7", "refs/pull/7/merge", "a90b11e3", "--parent", "staging");
  deploy(guestbook, "shop", "pr-8", "refs/pull/8/merge", "e2277c5d", "--parent", "staging");
  server.run("versions", "archive", "shop/v6");
  server.run("versions", "pin", "shop/staging");
  deploy(hostile, "hostile", "v1", corpus[0], corpus[2]);
  deploy(hostile, "hostile", "v2", corpus[1], corpus[3], "--parent", "v1", "--var", `TEXT:${corpus[4]}`);
  const broken = join(server.dir, "broken");
  server.run("init", broken, "--template", "hello");
  writeFileSync(join(broken, "src/index.ts"), `throw new Error(${JSON.stringify(corpus.join(" "))}); export default { fetch() { return new Response("") } }`);
  for (const project of ["hostile", "shop"]) {
    try { deploy(broken, project, "broken", project === "shop" ? "refs/pull/9/merge" : corpus[5], "d00dfeed"); } catch { /* it fails, as it must */ }
  }
  await server.ask("v2.hostile.localhost", "/", JSON.stringify(corpus));
  for (const text of corpus) await server.ask("v2.hostile.localhost", `/throw?text=${encodeURIComponent(text)}`);
  for (let i = 0; i < 120; i++) await server.ask("shop.localhost", ["/", "/entries", "/", "/missing"][i % 4]);
  server.run("promote", "hostile/v2", "--message", corpus[0]);
}
