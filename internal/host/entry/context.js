// The invocation that runs: modules of the platform tell by it which calls belong together.
import hooks from "node-internal:async_hooks";

const storage = new hooks.AsyncLocalStorage();
const boot = Math.random().toString(36).slice(2, 8);
let last = 0;

// Invocation is one event of the worker.
export class Invocation {
  #id;
  #numbered;
  #state;

  // numbered is called with the id when that is a number, before it is used.
  constructor(event, call, numbered) {
    this.event = event; // the first argument of the handler: a Request, a ScheduledController
    this.depth = call?.depth ?? 0; // how many calls of other workers led here
    this.trace = call?.trace; // the traceparent of the call of another worker, if that is recorded
    this.#id = call?.id;
    this.#numbered = numbered;
  }

  // state is what modules know about it, by a key of their own. Most events need none.
  get state() {
    return (this.#state ??= new Map());
  }

  // id is the one of the calling worker's invocation, that of a request the parent in its
  // traceparent, which the gateway sets for each request, that of anything else a number.
  get id() {
    if (this.#id === undefined) {
      let trace;
      try {
        trace = this.event?.headers?.get?.("traceparent");
      } catch {} // an argument of the worker's own kind
      const named = typeof trace === "string" && trace.length >= 55;
      this.#id = named ? trace.slice(36, 52) : `~${boot}${(++last).toString(36)}`;
      if (!named) this.#numbered?.(this.#id);
    }
    return this.#id;
  }
}

// current is the Invocation that runs, undefined outside of one.
export const current = storage.getStore.bind(storage);

// run(invocation, f, ...args) calls f as a part of invocation.
export const run = storage.run.bind(storage);
