// The entry module. The lines above load the modules that prepare globals, then the worker's main module as worker.
import { DurableObject, WorkerEntrypoint, WorkflowEntrypoint } from "cloudflare:workers";
import { Call, Invocation, admit, begin, current, entered, left, naming, report, run, underWay, watch, watchNoRetry } from "svc:platform";
export { waiting as "svc:waiting" } from "svc:platform";

const { apply, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;

const CALL = "svc:call";

// The handlers that an exported object may have.
const HANDLERS = ["fetch", "scheduled", "queue", "email", "tail", "tailStream", "trace", "test"];
const BASES = [Object.prototype, DurableObject.prototype, WorkerEntrypoint.prototype, WorkflowEntrypoint.prototype];

// beginOf makes a call of the handler or method name a new invocation: an event that the host
// knows, or a call that has a record of its own. A call within an invocation is a part of it.
const beginOf = (name, known) => ({
  apply(f, self, args) {
    if (current() !== undefined) return apply(f, self, args);
    watch(self, args);
    const call = known ? undefined : new Call(name, self);
    const invocation = new Invocation(args[0], callOf(self, args), call ? call.numbered : naming(name, args[0]));
    return run(invocation, known && name === "scheduled" ? invokeScheduled : invoke, name, f, self, args, call);
  },
});

// alarms makes a call of a Durable Object's alarm an invocation, which begins when alarms may begin.
const alarm = beginOf("alarm", false);
const alarms = {
  apply(f, self, args) {
    if (current() !== undefined) return apply(f, self, args);
    return admit(self, () => underWay(alarm.apply(f, self, args)));
  },
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

// invoke calls f, the handler name, and logs the exception that it ends with, if any, and the
// end of call and of the trace.
function invoke(name, f, self, args, call) {
  const trace = begin(name, args[0]);
  const ctx = contextOf(self, args);
  const entry = entered();
  let result;
  try {
    result = apply(f, self, args);
  } catch (e) {
    failed(e, call, trace, ctx, entry);
    throw e;
  }
  if (result instanceof Promise) result.then(() => succeeded(call, trace, ctx, entry), (e) => failed(e, call, trace, ctx, entry));
  else succeeded(call, trace, ctx, entry);
  return result;
}

// contextOf is the context of an event.
function contextOf(self, args) {
  try {
    return self?.ctx ?? args[2];
  } catch {} // an object of the worker's own kind
}

function succeeded(call, trace, ctx, entry) {
  call?.ended("ok");
  trace?.end(false);
  left(ctx, entry);
}

function failed(e, call, trace, ctx, entry) {
  report(e);
  call?.ended("exception");
  trace?.end(true);
  left(ctx, entry);
}

function invokeScheduled(name, f, self, args) {
  watchNoRetry(args[0]);
  return invoke(name, f, self, args);
}

// fileFirst is the handler fetch of the default export of a version with static files. Cloudflare asks
// the files before the worker for calls by a service binding, too. The files of other requests were
// asked by the gateway.
const fileFirst = (f) =>
  new Proxy(f, {
    apply(f, self, args) {
      return current() === undefined && isCall(self, args) ? answer(f, self, args) : apply(f, self, args);
    },
  });

// isCall reports whether a call is of a service binding.
function isCall(self, args) {
  try {
    return (self?.ctx ?? args[2])?.props?.[CALL] !== undefined;
  } catch {} // an object of the worker's own kind
}

// answer is the file that a request names, or what f answers.
async function answer(f, self, args) {
  const { url, method, headers } = args[0];
  const file = await files.fetch(url, { method, headers, redirect: "manual" });
  return file.headers.has("svc-worker") ? apply(f, self, args) : file;
}

// handlers is an exported object whose handlers are invocations. It has the own properties of object:
// other workers call and read these, and workerd hides inherited ones from them.
function handlers(object) {
  const out = Object.create(object);
  for (const name of ownKeys(object)) {
    defineProperty(out, name, { configurable: true, enumerable: true, get: () => property(object, name), set: (value) => (object[name] = value) });
  }
  for (const name of HANDLERS) {
    const handler = object[name];
    if (typeof handler !== "function") continue;
    const begin = beginOf(name, true);
    let value = (...args) => begin.apply(handler, object, args);
    if (files && name === "fetch") value = fileFirst(value);
    defineProperty(out, name, { configurable: true, enumerable: true, writable: true, value });
  }
  if (typeof object.fetch !== "function") {
    defineProperty(out, "fetch", { configurable: true, enumerable: false, writable: true, value: withoutFetch(object) });
  }
  return out;
}

// withoutFetch is the handler fetch of a worker that has none. Its exception has the id of the request,
// which that of workerd lacks, and says which handlers there are.
function withoutFetch(object) {
  const begin = beginOf("fetch", true);
  const has = HANDLERS.filter((name) => typeof object[name] === "function");
  const fail = () => {
    const e = new Error(`This worker has no fetch handler (it has ${has.join(", ") || "no handlers"}).`);
    e.stack = String(e);
    throw e;
  };
  const value = function (...args) {
    return begin.apply(fail, this, args);
  };
  return files ? fileFirst(value) : value;
}

// property is a property of an exported object as another worker sees it: a call of a method is an
// invocation.
function property(object, name) {
  const value = object[name];
  if (typeof value !== "function" || typeof name === "symbol" || isEntrypoint(value)) return value;
  const begin = beginOf(name, false);
  return (...args) => begin.apply(value, object, args);
}

// replace makes the methods of object, which it has itself, invocations. The host knows the
// events of the handlers in known.
function replace(object, names, known) {
  for (const name of names) {
    const d = getOwnPropertyDescriptor(object, name);
    if (typeof d?.value !== "function" || !d.configurable) continue;
    const handler = name === "alarm" ? alarms : beginOf(name, known.includes(name)); // no other class has calls of alarm
    defineProperty(object, name, { ...d, value: new Proxy(d.value, handler) });
  }
}

const seen = new WeakSet(BASES); // prototypes

// knownOf are the handlers of a class that the host calls.
function knownOf(prototype) {
  if (WorkflowEntrypoint.prototype.isPrototypeOf(prototype)) return ["run"];
  return DurableObject.prototype.isPrototypeOf(prototype) ? [] : ["scheduled", "queue"];
}

// methods makes the methods of an exported class invocations.
function methods(prototype) {
  const known = knownOf(prototype);
  while (prototype && !seen.has(prototype)) {
    seen.add(prototype);
    replace(prototype, ownKeys(prototype).filter((name) => name !== "constructor"), known);
    prototype = getPrototypeOf(prototype);
  }
}

const isEntrypoint = ({ prototype: p }) =>
  p && (BASES.some((base) => base !== Object.prototype && base.isPrototypeOf(p)) || typeof p.fetch === "function" || typeof p.alarm === "function");

for (const [name, value] of Object.entries(worker)) {
  if (typeof value === "function" && isEntrypoint(value)) methods(value.prototype);
  else if (name !== "default" && typeof value === "object" && value !== null) replace(value, ownKeys(value), HANDLERS);
}

const main = worker.default;
if (files && typeof main === "function" && typeof main.prototype?.fetch === "function") {
  defineProperty(main.prototype, "fetch", { configurable: true, writable: true, value: fileFirst(main.prototype.fetch) });
}
if (typeof main === "function" && WorkerEntrypoint.prototype.isPrototypeOf(main.prototype) && typeof main.prototype.fetch !== "function") {
  defineProperty(main.prototype, "fetch", { configurable: true, enumerable: false, writable: true, value: withoutFetch(main.prototype) });
}
export default main === undefined ? handlers({}) : typeof main === "object" && main !== null ? handlers(main) : main;
