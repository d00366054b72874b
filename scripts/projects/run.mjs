// Deploys public projects to a running server with the tools of their own, and says how many become ready:
//
//   node scripts/projects/run.mjs DIR RESULTS [OWNER/NAME...]
//
// DIR has a checkout of each project of projects.tsv, as OWNER+NAME. RESULTS gets a line of JSON for each. Programs that it
// needs on the PATH: svcctl, which finds the server as always, npm, pnpm, yarn (1), bun. The code of strangers runs in
// installs and builds: use a machine, or a user, that has nothing to lose. OFFLINE is put in front of a build, to take its
// network away: OFFLINE="unshare -rn".
import { spawnSync } from "node:child_process";
import { appendFileSync, cpSync, existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const [from, results, ...only] = process.argv.slice(2);
const env = { ...process.env, CI: "1", DO_NOT_TRACK: "1", ASTRO_TELEMETRY_DISABLED: "1", NEXT_TELEMETRY_DISABLED: "1", WRANGLER_SEND_METRICS: "false", CLOUDFLARE_CF_FETCH_ENABLED: "false",
  HUSKY: "0", NPM_CONFIG_MANAGE_PACKAGE_MANAGER_VERSIONS: "false", COREPACK_ENABLE_STRICT: "0", YARN_IGNORE_PATH: "1", YARN_ENABLE_IMMUTABLE_INSTALLS: "false", NODE_OPTIONS: "--max-old-space-size=3000" };
const list = readFileSync(join(import.meta.dirname, "projects.tsv"), "utf8").trim().split("\n").map((line) => line.split("\t"));

/** run runs a command of the shell and returns whether it succeeded, and what it printed. */
function run(cwd, command, seconds, extra = {}) {
  const r = spawnSync("timeout", ["-k", "5", String(seconds), "sh", "-c", command], { cwd, env: { ...env, ...extra }, encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "pipe"] });
  return { ok: r.status === 0, late: r.status === 124, out: (r.stdout ?? "") + (r.stderr ?? ""), stdout: r.stdout ?? "" };
}

const npm = "npm_config_replace_registry_host=always npm_config_fetch_retries=1 npm_config_prefer_offline=true";
const offline = (command) => process.env.OFFLINE ? `${process.env.OFFLINE} sh -c '${command.replaceAll("'", "'\\''")}'` : command;
const manifest = (dir) => { try { return JSON.parse(readFileSync(join(dir, "package.json"), "utf8")); } catch { return undefined; } };

/** up are the directories from one up to the root of the project. */
function up(root, dir) {
  const dirs = [];
  for (let at = dir; !relative(root, at).startsWith(".."); at = dirname(at)) dirs.push(at);
  return dirs;
}

/** workspaces are the packages of a monorepo, two levels deep. */
const workspaces = (root) => readdirSync(root, { withFileTypes: true }).filter((e) => e.isDirectory() && e.name !== "node_modules").flatMap(({ name }) =>
  [join(root, name), ...readdirSync(join(root, name), { withFileTypes: true }).filter((e) => e.isDirectory()).map((e) => join(root, name, e.name))]).filter(manifest);

const managers = [
  ["pnpm-lock.yaml", () => "pnpm install --ignore-scripts --no-frozen-lockfile --config.strict-peer-dependencies=false --config.engine-strict=false"],
  ["yarn.lock", (dir) => readFileSync(join(dir, "yarn.lock"), "utf8").includes("__metadata") ? "yarnberry install --mode=skip-build" : "yarn install --ignore-scripts --ignore-engines --non-interactive || npm install --ignore-scripts --no-audit --no-fund --legacy-peer-deps"],
  ["bun.lock", () => "bun install --ignore-scripts"], ["bun.lockb", () => "bun install --ignore-scripts"],
  ["package-lock.json", () => `${npm} npm ci --ignore-scripts --no-audit --no-fund || ${npm} npm install --ignore-scripts --no-audit --no-fund --legacy-peer-deps`],
];

/** install installs the packages of a directory with the package manager of its lock file, without their scripts. */
function install(root, dir) {
  for (const at of up(root, dir)) {
    for (const [lock, command] of managers) if (existsSync(join(at, lock))) return { at, ...run(at, command(at), 240) };
  }
  const withManifest = up(root, dir).filter((at) => manifest(at));
  const at = withManifest.find((at) => manifest(at).workspaces) ?? withManifest[0];
  return at ? { at, ...run(at, `${npm} npm install --ignore-scripts --no-audit --no-fund --legacy-peer-deps`, 240) } : { ok: true, out: "", at: undefined };
}

const tail = (text) => text.replaceAll(/\x1b\[[0-9;]*m/g, "").split("\n").filter((l) => l.trim() && !/npm warn|ExperimentalWarning/.test(l)).slice(-14).join("\n").slice(-1800);

/** deploy deploys a project, without -c as that passes by what a build has written, and returns its version, or the error. */
function deploy(dir, missing, id) {
  const r = run(dir, `svcctl deploy --wait --timeout 90s -o json --project ${id} ${missing.length ? `--allow-missing ${missing.join(",")}` : ""}`, 240);
  let version;
  try { version = JSON.parse(r.stdout); } catch { /* it failed */ }
  return { ok: r.ok, version, out: r.out };
}

/** one checks, builds and deploys a project, and asks it for its first page. */
async function one([name, , config], id, work) {
  const result = { name, config, problems: [] };
  const root = join(work, "p"), dir = join(root, dirname(config)), file = config.split("/").at(-1);
  rmSync(root, { recursive: true, force: true });
  cpSync(join(from, name.replace("/", "+")), root, { recursive: true, verbatimSymlinks: true });
  for (const at of up(root, dir).filter(manifest)) { // the versions of Node.js and of package managers that a project asks for
    const { engines, devEngines, packageManager, ...rest } = manifest(at);
    if (engines ?? devEngines ?? packageManager) writeFileSync(join(at, "package.json"), JSON.stringify(rest, null, 2));
  }
  const check = JSON.parse(run(dir, `svcctl check -c ${file} -o json`, 20).stdout || "{}");
  Object.assign(result, { check: check.result, missing: check.allow_missing ? check.allow_missing.split(",") : [], command: check.build, problems: check.problems });
  if (check.result === "refused") return result;
  const step = (what, r) => { result[what] = r.ok; if (!r.ok) result[`${what}_said`] = r.late ? "timeout" : tail(r.out); return r.ok; };
  let installed = {}, d = check.build ? { ok: false, out: "" } : deploy(dir, result.missing, id); // a worker without packages needs no more
  if (check.build || !d.ok && /Could not resolve|build command/.test(d.out)) {
    installed = install(root, dir);
    step("install", installed);
    const other = /^cd (\S+) && /.exec(check.build)?.[1];
    if (other && !up(root, join(dir, other)).includes(installed.at)) step("install", install(root, join(dir, other)));
    for (const at of new Set([installed.at, dir].filter(Boolean))) {
      for (const script of ["postinstall", "prepare"]) if (manifest(at)?.scripts?.[script]) run(at, offline(`npm run ${script}`), 60);
    }
    if (check.build && !/ install$/.test(check.build)) step("build", run(dir, offline(check.build), 240));
    d = deploy(dir, result.missing, id);
    const unresolved = /(?:"|\\n|\n)([^\s"\\]+):\d+:\d+: Could not resolve/.exec(d.out)?.[1];
    if (unresolved && manifest(up(root, dirname(join(dir, unresolved))).find(manifest) ?? root) && up(root, dirname(join(dir, unresolved))).find(manifest) !== installed.at) {
      step("install", install(root, dirname(join(dir, unresolved)))); // the package of the worker's sources
      d = deploy(dir, result.missing, id);
    }
  }
  if (/service_not_found/.test(d.out)) { result.missing.push("services"); d = deploy(dir, result.missing, id); }
  for (const name of new Set([...d.out.matchAll(/Could not resolve \\*"(@?[\w.-]+(?:\/[\w.-]+)?)/g)].map((m) => m[1]))) { // packages of the monorepo whose build makes their modules
    const at = workspaces(root).find((at) => manifest(at).name === name);
    if (at && manifest(at).scripts?.build) { step("workspace_build", run(at, offline("npm run build"), 120)); d = deploy(dir, result.missing, id); }
  }
  step("deploy", d);
  result.status = d.version?.status;
  if (d.ok) {
    const url = new URL(d.version.preview_url);
    const r = run(dir, `curl -s -m 20 -o /dev/null -w "%{http_code} %{content_type}" -H "Host: ${url.host}" http://127.0.0.1:${url.port}/`, 30);
    result.answer = r.stdout;
  } else {
    const dry = run(dir, `npx --no-install wrangler deploy --dry-run || wrangler deploy --dry-run`, 120);
    Object.assign(result, { wrangler: dry.ok, wrangler_said: dry.ok ? undefined : tail(dry.out) });
  }
  run(dir, `svcctl projects delete ${id} --yes ${d.version?.id ? `--production ${d.version.id}` : ""}`, 60);
  return result;
}

for (const [i, project] of list.entries()) {
  if (only.length && !only.includes(project[0])) continue;
  const begun = Date.now();
  let r;
  try { r = await one(project, `p${i + 1}`, process.env.WORK ?? join(from, "..", "work")); } catch (e) { r = { name: project[0], error: String(e.stack) }; }
  r.seconds = Math.round((Date.now() - begun) / 1000);
  appendFileSync(results, JSON.stringify(r) + "\n");
  console.log(`${i + 1} ${r.name} ${r.check} ${r.status ?? r.error ?? "not deployed"} ${r.answer ?? ""} ${r.seconds}s`);
}
