// The invocation that runs: modules of the platform tell by it which calls belong together.
import hooks from "node-internal:async_hooks";

const storage = new hooks.AsyncLocalStorage();

// Invocation is one event of the worker. Modules keep what they know about it in state,
// by a key of their own.
export class Invocation {
  state = new Map();

  constructor(event) {
    this.event = event; // the first argument of the handler: a Request, a ScheduledController
  }
}

// current is the Invocation that runs, undefined outside of one.
export const current = storage.getStore.bind(storage);

// run(invocation, f, ...args) calls f as a part of invocation.
export const run = storage.run.bind(storage);
