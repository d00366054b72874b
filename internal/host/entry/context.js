// The invocation that runs: modules of the platform tell by it which calls belong together.
import hooks from "node-internal:async_hooks";

const { Request } = globalThis; // workers may replace it
const storage = new hooks.AsyncLocalStorage();
const boot = Math.random().toString(36).slice(2, 8);
let last = 0;

// traceparentOf is the traceparent of a request, which the gateway sets for each one.
export function traceparentOf(event) {
  try {
    return event instanceof Request ? (event.headers.get("traceparent") ?? undefined) : undefined;
  } catch {} // an object of the worker's own kind
}

// parentOf is the parent in a traceparent.
const parentOf = (trace) => (trace?.length >= 55 ? trace.slice(36, 52) : undefined);

// Invocation is one event of the worker. It does not keep the event: what the async context
// refers to lives until the next full collection, and a request with its headers is large.
export class Invocation {
  #id;
  #numbered;
  #state;

  // event is the first argument of the handler: a Request, a ScheduledController. numbered is
  // called with the id when that is a number, before it is used.
  constructor(event, call, numbered) {
    this.depth = call?.depth ?? 0; // how many calls of other workers led here
    this.trace = call?.trace; // the traceparent of the call of another worker, if that is recorded
    this.#id = call?.id ?? parentOf(traceparentOf(event));
    this.#numbered = numbered;
  }

  // state is what modules know about it, by a key of their own. Most events need none.
  get state() {
    return (this.#state ??= new Map());
  }

  // id is the one of the calling worker's invocation, that of a request the parent in its
  // traceparent, that of anything else a number.
  get id() {
    if (this.#id === undefined) {
      this.#id = `~${boot}${(++last).toString(36)}`;
      this.#numbered?.(this.#id);
    }
    return this.#id;
  }
}

// current is the Invocation that runs, undefined outside of one.
export const current = storage.getStore.bind(storage);

// run(invocation, f, ...args) calls f as a part of invocation.
export const run = storage.run.bind(storage);
