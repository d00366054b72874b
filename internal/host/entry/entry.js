// The entry module. The lines above load svc:console and svc:subrequests, then the worker's main module as worker.
import { DurableObject, WorkerEntrypoint, WorkflowEntrypoint } from "cloudflare:workers";
import { report, watchNoRetry } from "svc:console";
import { Invocation, current, run } from "svc:context";

const { apply, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;

const CALL = "svc:call";

// The handlers that an exported object may have.
const HANDLERS = ["fetch", "scheduled", "queue", "email", "tail", "tailStream", "trace", "test"];
const BASES = [Object.prototype, DurableObject.prototype, WorkerEntrypoint.prototype, WorkflowEntrypoint.prototype];

// begin calls f as a new invocation. A call within an invocation is a part of it.
const begin = {
  apply: (f, self, args) => (current() === undefined ? run(new Invocation(args[0], callOf(self, args)), invoke, f, self, args) : apply(f, self, args)),
};

// callOf is what a service binding of another worker says about its call, which is not for
// the worker to see: {id, depth}.
function callOf(self, args) {
  try {
    const props = (self?.ctx ?? args[2])?.props;
    const call = props?.[CALL];
    if (call !== undefined) delete props[CALL];
    return call;
  } catch {} // an object of the worker's own kind
}

const beginScheduled = {
  apply(f, self, args) {
    if (current() === undefined) watchNoRetry(args[0]);
    return begin.apply(f, self, args);
  },
};

const beginOf = (name) => (name === "scheduled" ? beginScheduled : begin);

// invoke calls f and logs the exception that it ends with, if any.
function invoke(f, self, args) {
  let result;
  try {
    result = apply(f, self, args);
  } catch (e) {
    report(e);
    throw e;
  }
  if (result instanceof Promise) result.then(undefined, report);
  return result;
}

// handlers is an exported object whose handlers are invocations.
function handlers(object) {
  const out = Object.create(object);
  for (const name of HANDLERS) {
    const handler = object[name];
    if (typeof handler !== "function") continue;
    const value = (...args) => beginOf(name).apply(handler, object, args);
    defineProperty(out, name, { configurable: true, enumerable: true, writable: true, value });
  }
  return out;
}

// replace makes the methods of object, which it has itself, invocations.
function replace(object, names) {
  for (const name of names) {
    const d = getOwnPropertyDescriptor(object, name);
    if (typeof d?.value !== "function" || !d.configurable) continue;
    defineProperty(object, name, { ...d, value: new Proxy(d.value, beginOf(name)) });
  }
}

const seen = new WeakSet(BASES); // prototypes

// methods makes the methods of an exported class invocations.
function methods(prototype) {
  while (prototype && !seen.has(prototype)) {
    seen.add(prototype);
    replace(prototype, ownKeys(prototype).filter((name) => name !== "constructor"));
    prototype = getPrototypeOf(prototype);
  }
}

const isEntrypoint = ({ prototype: p }) =>
  p && (BASES.some((base) => base !== Object.prototype && base.isPrototypeOf(p)) || typeof p.fetch === "function" || typeof p.alarm === "function");

for (const [name, value] of Object.entries(worker)) {
  if (typeof value === "function" && isEntrypoint(value)) methods(value.prototype);
  else if (name !== "default" && typeof value === "object" && value !== null) replace(value, HANDLERS);
}

const main = worker.default;
export default typeof main === "object" && main !== null ? handlers(main) : main;
