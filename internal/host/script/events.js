// The globals and the events of a worker in service-worker format. This module is evaluated
// before the script.
import { env } from "cloudflare:workers";

for (const name of Object.keys(env)) {
  Object.defineProperty(globalThis, name, { configurable: true, enumerable: true, writable: true, value: env[name] });
}

// The listeners of each type of event, in the order in which the script added them.
const listeners = new Map(["fetch", "scheduled", "queue", "email", "tail", "trace"].map((type) => [type, []]));

const add = globalThis.addEventListener.bind(globalThis);
const remove = globalThis.removeEventListener.bind(globalThis);

globalThis.addEventListener = (type, listener, options) => {
  const list = listeners.get(type);
  if (list === undefined) return add(type, listener, options);
  if (listener && !list.includes(listener)) list.push(listener);
};

globalThis.removeEventListener = (type, listener, options) => {
  const list = listeners.get(type);
  if (list === undefined) return remove(type, listener, options);
  const i = list.indexOf(listener);
  if (i >= 0) list.splice(i, 1);
};

// ScriptEvent is an event as listeners see it.
class ScriptEvent {
  #ctx;
  constructor(type, ctx, fields) {
    this.#ctx = ctx;
    Object.assign(this, { type }, fields);
  }
  waitUntil(promise) {
    this.#ctx.waitUntil(promise);
  }
}

class RequestEvent extends ScriptEvent {
  #ctx;
  answer = undefined;
  constructor(request, ctx) {
    super("fetch", ctx, { request });
    this.#ctx = ctx;
    Object.defineProperty(this, "answer", { enumerable: false });
  }
  respondWith(response) {
    if (this.answer !== undefined) throw new DOMException("FetchEvent.respondWith() has already been called.", "InvalidStateError");
    this.answer = Promise.resolve(response);
  }
  passThroughOnException() {
    this.#ctx.passThroughOnException();
  }
}

function dispatch(event) {
  for (const listener of [...listeners.get(event.type)]) {
    if (typeof listener === "function") listener.call(globalThis, event);
    else listener.handleEvent(event);
  }
}

// handlers are those of an exported object, for the types of events that the script listens to.
export function handlers() {
  const all = {
    fetch(request, _, ctx) {
      const event = new RequestEvent(request, ctx);
      dispatch(event);
      return event.answer ?? fetch(request);
    },
    scheduled(controller, _, ctx) {
      const { cron, scheduledTime } = controller;
      dispatch(new ScriptEvent("scheduled", ctx, { cron, scheduledTime, noRetry: () => controller.noRetry() }));
    },
    queue(batch, _, ctx) {
      const { queue, messages } = batch;
      dispatch(new ScriptEvent("queue", ctx, { queue, messages, ackAll: () => batch.ackAll(), retryAll: (o) => batch.retryAll(o) }));
    },
    email(message, _, ctx) {
      dispatch(new ScriptEvent("email", ctx, { message }));
    },
    tail(events, _, ctx) {
      dispatch(new ScriptEvent("tail", ctx, { events }));
    },
    trace(traces, _, ctx) {
      dispatch(new ScriptEvent("trace", ctx, { traces }));
    },
  };
  return Object.fromEntries(Object.entries(all).filter(([type]) => listeners.get(type).length > 0));
}
