// A branch is a version for one test: the worker of the parent, with data that begin as the parent's.
import { call, json, path, ready, settings } from "./api.js";
import * as data from "./data.js";
import { fetchFrom, listen } from "./http.js";
import { keep } from "./keep.js";

export class Branch {
  #s;
  #address;
  #gone = false;

  constructor(s, version) {
    this.#s = s;
    this.id = version.id;
    this.project = s.project;
    this.previewUrl = version.preview_url;
  }

  get #base() {
    const url = new URL(this.previewUrl);
    return { url, host: url.host, port: url.port || 80, at: process.env.SVCCTL_TEST_GATEWAY_HOST || (url.hostname.endsWith("localhost") ? "127.0.0.1" : url.hostname) };
  }

  // fetch sends a request to the worker. A path is enough.
  fetch(input, init) { return fetchFrom(this.#base, input, init); }

  // listen returns an address on this machine that leads to the worker, for a browser or another program.
  async listen() {
    this.#address ??= await listen(this.#base);
    return this.#address.url;
  }

  d1(binding) { return data.d1(this.#s, this.id, binding); }
  kv(binding) { return data.kv(this.#s, this.id, binding); }
  r2(binding) { return data.r2(this.#s, this.id, binding); }
  queue(name) { return data.queue(this.#s, this.id, name); }

  // cron runs scheduled() once and throws what it threw.
  async cron(cron = "") {
    const r = await json(this.#s, "POST", path(this.#s, this.id, "/scheduled"), cron ? { cron } : {});
    if (r.outcome !== "ok") throw new Error(`scheduled() ended with ${r.outcome}: ${r.error?.message ?? ""}`);
    return r;
  }

  // logs returns the lines that the worker has logged.
  async logs() { return (await json(this.#s, "GET", path(this.#s, this.id, "/logs?tail=1000"))).items; }

  // keep writes the log and the data of the branch to a directory, and returns its path.
  keep(name) { return keep(this.#s, this, name); }

  async destroy() {
    if (this.#gone) return;
    this.#gone = true;
    this.#address?.close();
    await call(this.#s, "DELETE", path(this.#s, this.id));
  }

  [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() { return this.destroy(); }
}

let made = 0;

// create makes one branch and waits until it serves.
async function create(s, asleep) {
  const id = `t${process.pid.toString(36)}-${(++made).toString(36)}-${Math.random().toString(36).slice(2, 7)}`;
  const version = await json(s, "POST", `/projects/${s.project}/versions`, { id, parent_version_id: s.parent, bundle_from: s.parent, asleep, events: "on", labels: { "svcctl/test": "branch" } }, s.deploy);
  await ready(s, id);
  return new Branch(s, version);
}

// Branches that are made ahead of time, by what they are made of.
const ahead = new Map();

// branch makes a branch. prepare is how many are made ahead of time for the tests that follow in this process;
// asleep ones start with the first request.
export async function branch({ project, parent, prepare = 0, asleep = false } = {}) {
  const s = settings({ project, parent });
  if (prepare === 0) return create(s, asleep);
  const key = [s.project, s.parent, asleep].join("/");
  const waiting = ahead.get(key) ?? [];
  ahead.set(key, waiting);
  const one = waiting.shift() ?? create(s, asleep);
  while (waiting.length < prepare) {
    const next = create(s, asleep);
    next.catch(() => {}); // the test that gets it sees the error
    waiting.push(next);
  }
  return one;
}

const ending = new Set();

// discard destroys a branch while the next test runs.
export function discard(branch) {
  const end = branch.destroy().catch((e) => console.error(`svcctl: the branch ${branch.id} was not destroyed: ${e.message}`)).finally(() => ending.delete(end));
  ending.add(end);
}

// release destroys the branches that were made ahead of time and that no test got, and waits for the others.
export async function release() {
  const all = [...ahead.values()].flat();
  ahead.clear();
  await Promise.allSettled([...all.map(async (b) => (await b).destroy()), ...ending]);
}

// parent is the version that branches begin with. What is written to it before the first branch is in all of them.
export async function parent(options) {
  const s = settings(options);
  return new Branch(s, await json(s, "GET", path(s, s.parent)));
}
