// The spans of an invocation whose trace is recorded: its own, and one for each call of a
// binding. They are printed together when the handler has ended, those of later calls when
// they end (console.js says how). TRACED is false when the server sends no traces.
import { tell } from "svc-internal:console";
import { current, traceparentOf } from "svc-internal:context";

const { now } = Date; // whole milliseconds, which workerd's clock counts
const MAX = 200; // spans of one invocation
const SAMPLED = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f][13579bdf]/; // a traceparent that is recorded
const KEY = {}; // of an invocation's state

const newID = () => Array.from(crypto.getRandomValues(new Uint8Array(8)), (b) => b.toString(16).padStart(2, "0")).join("");

class Trace {
  #invocation;
  #trace;
  #id = newID();
  #parent;
  #handler;
  #began = now();
  #spans = [];
  #left = MAX;
  #ended = false;

  constructor(invocation, handler, [, trace, parent]) {
    this.#invocation = invocation;
    this.#handler = handler;
    this.#trace = trace;
    this.#parent = parent;
  }

  // parentOf is the traceparent of what the span id leads to.
  parentOf(id) {
    return `00-${this.#trace}-${id}-01`;
  }

  // add takes a call of a binding that has ended.
  add(id, resource, method, began, failed) {
    if (this.#left-- <= 0) return;
    this.#spans.push({ trace: this.#trace, id, parent: this.#id, name: method, resource, start: began, end: now(), failed });
    if (this.#ended) this.#print();
  }

  // end is called when the handler has ended.
  end(failed) {
    this.#spans.push({ trace: this.#trace, id: this.#id, parent: this.#parent, name: this.#handler, start: this.#began, end: now(), failed });
    this.#ended = true;
    this.#print();
  }

  #print() {
    tell(this.#invocation.id, "\x19", JSON.stringify(this.#spans));
    this.#spans = [];
  }
}

// begin gives the Trace of the invocation that runs, of a request or of a call of another
// worker whose trace is recorded; undefined for any other. event is the handler's argument.
export function begin(handler, event) {
  if (!TRACED) return undefined;
  const invocation = current();
  try {
    const ids = SAMPLED.exec(invocation.trace ?? traceparentOf(event) ?? "");
    if (ids === null) return undefined;
    const trace = new Trace(invocation, handler, ids);
    invocation.state.set(KEY, trace);
    return trace;
  } catch {
    return undefined; // no request
  }
}

// span calls start, a call of a method of the binding of resource, and gives its result. start
// gets the traceparent of what the call leads to, undefined if that is not recorded.
export function span(resource, method, start) {
  const trace = TRACED ? current()?.state.get(KEY) : undefined;
  if (trace === undefined) return start();
  const began = now();
  const id = newID();
  const result = start(trace.parentOf(id)); // throws for wrong arguments: no call was made
  if (typeof result?.then === "function") { // a promise, or workerd's own kind of it
    result.then(
      () => trace.add(id, resource, method, began, false),
      () => trace.add(id, resource, method, began, true),
    );
  }
  return result;
}
