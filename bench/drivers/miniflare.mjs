// Runs one fixture under miniflare's Node API, its state on disk, until SIGTERM. On
// SIGUSR2 it reads the worker again and gives it to setOptions. What the worker imports
// from packages is in FIXTURE_DIR/packages, bundled before:
//   node miniflare.mjs FIXTURE_DIR STATE_DIR PORT
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Log, LogLevel, Miniflare } from "miniflare";

const [dir, state, port] = process.argv.slice(2);
const config = JSON.parse(readFileSync(join(dir, "wrangler.jsonc"), "utf8"));
const named = (list, id) => Object.fromEntries((list ?? []).map((b) => [b.binding, b[id]]));
const at = join(dir, "packages");
const packages = (existsSync(at) ? readdirSync(at) : []).map((file) =>
  ({ type: "ESModule", path: file.replace(/\.js$/, ""), contents: readFileSync(join(at, file), "utf8") }));

const options = () => ({
  name: config.name,
  host: "127.0.0.1",
  port: Number(port),
  cf: false,
  log: new Log(LogLevel.ERROR),
  compatibilityDate: config.compatibility_date,
  modules: [{ type: "ESModule", path: "index.js", contents: readFileSync(join(dir, config.main), "utf8") }, ...packages],
  modulesRoot: "/",
  kvNamespaces: named(config.kv_namespaces, "id"),
  d1Databases: named(config.d1_databases, "database_id"),
  r2Buckets: named(config.r2_buckets, "bucket_name"),
  queueProducers: named(config.queues?.producers, "queue"),
  queueConsumers: Object.fromEntries((config.queues?.consumers ?? []).map((c) => [c.queue, { maxBatchSize: c.max_batch_size, maxBatchTimeout: c.max_batch_timeout }])),
  workflows: Object.fromEntries((config.workflows ?? []).map((w) => [w.binding, { name: w.name, className: w.class_name }])),
  workflowsPersist: join(state, "workflows"),
  kvPersist: join(state, "kv"), // as wrangler dev does, and as a platform must
  d1Persist: join(state, "d1"),
  r2Persist: join(state, "r2"),
  cachePersist: join(state, "cache"),
});
const miniflare = new Miniflare(options());
process.on("SIGUSR2", () => miniflare.setOptions(options()));
process.on("SIGTERM", async () => {
  await miniflare.dispose();
  process.exit(0);
});
await miniflare.ready;
