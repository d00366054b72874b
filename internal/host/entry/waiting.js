// Counts the work that events gave to waitUntil and that is not over, and the alarms of Durable Objects
// that run. Only a release needs the numbers, so the host asks for them (the entrypoint waiting) and
// requests tell it nothing.
//
// workerd may end an invocation whose work is not over: its promises do not settle then. A work
// proves that its invocation lives when it is asked: workerd runs the continuation of a promise
// in the request that made it, and drops it if that has ended.
import workers from "cloudflare-internal:workers";
import { hold } from "svc-internal:alarms";

const { apply, defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
const { Promise, Response } = globalThis; // workers may replace them
const { then } = Promise.prototype;
const { now } = Date;
const flags = globalThis.Cloudflare?.compatibilityFlags ?? {};

const FRESH = 100; // ms for which a work need not be asked
const PATIENCE = 250; // ms in which a work answers
const OLD = 15 * 60_000; // ms after which work is not waited for, where workerd answers for ended invocations too
const MANY = 1000; // works, above which the ended ones are looked for

// Work is one call of waitUntil, or one alarm.
class Work {
  #asked = 0; // when; 0 for not, or answered
  #seen = now();
  #began = this.#seen;
  #ask;

  constructor() {
    this.#arm();
  }

  #arm() {
    const asked = new Promise((resolve) => (this.#ask = resolve));
    apply(then, asked, [() => this.#answer()]);
  }

  #answer() {
    this.#seen = this.#asked;
    this.#asked = 0;
    this.#arm();
  }

  // lives reports whether the invocation of the work has not ended, as far as is known at time.
  lives(time) {
    if (!flags.handle_cross_request_promise_resolution) return time - this.#began < OLD;
    if (this.#asked !== 0) return time - this.#asked < PATIENCE;
    if (time - this.#seen >= FRESH) {
      this.#asked = time;
      this.#ask();
    }
    return true;
  }
}

// Works are those that are not over.
class Works {
  #all = new Set();
  #many = MANY;

  // count forgets the works of invocations that have ended, and counts the others.
  count() {
    const time = now();
    for (const work of this.#all) if (!work.lives(time)) this.#all.delete(work);
    this.#many = Math.max(MANY, 2 * this.#all.size);
    return this.#all.size;
  }

  add(promise) {
    if (this.#all.size >= this.#many) this.count();
    const work = new Work();
    this.#all.add(work);
    const end = () => this.#all.delete(work);
    apply(then, promise, [end, end]);
  }
}

const outstanding = new Works();
const alarms = new Works();

// underWay counts an alarm until its handler, which has returned result, is over.
export function underWay(result) {
  if (result instanceof Promise) alarms.add(result);
  return result;
}

// promiseOf is the promise that workerd makes of an argument of waitUntil; undefined for what it
// does not wait for.
function promiseOf(value) {
  if (value instanceof Promise) return value;
  if (!flags.unwrap_custom_thenables || typeof value?.then !== "function") return undefined;
  return new Promise((resolve) => resolve(value));
}

function waitUntil(native, self, args) {
  const promise = promiseOf(args[0]);
  if (promise === undefined) return apply(native, self, args);
  args[0] = promise;
  const result = apply(native, self, args); // throws when there is no invocation
  outstanding.add(promise);
  return result;
}

// replace has the calls of waitUntil of the objects with prototype counted.
function replace(prototype) {
  const d = getOwnPropertyDescriptor(prototype, "waitUntil");
  defineProperty(prototype, "waitUntil", { ...d, value: new Proxy(d.value, { apply: waitUntil }) });
}

replace(getPrototypeOf(workers)); // what cloudflare:workers exports calls it

const NAME = "svc:waiting";
let watched = false;

// watch has the calls of ctx.waitUntil counted, from the first invocation on: a call of a method
// of self with args. Durable Objects are not watched, whose work a release stops.
export function watch(self, args) {
  if (watched) return;
  for (const ctx of [args[2], self?.ctx]) {
    try {
      const prototype = getPrototypeOf(ctx);
      if (prototype.constructor.name !== "ExecutionContext") continue;
      replace(prototype);
      watched = true;
      if (ctx.exports !== undefined) delete ctx.exports[NAME]; // it is not the worker's
      return;
    } catch {} // an object of the worker's own kind
  }
}

// waiting is the entrypoint for the host. It answers with the number of works, and to requests about
// alarms with the number of those that run.
export const waiting = {
  fetch(...args) {
    watch(undefined, args);
    const { url } = args[0];
    if (url.endsWith("/alarms/hold")) hold(true);
    if (url.endsWith("/alarms/begin")) hold(false);
    return new Response(String((url.includes("/alarms") ? alarms : outstanding).count()));
  },
};
