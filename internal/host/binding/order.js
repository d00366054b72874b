// The order of the calls of one invocation on one resource, key by key: a call starts when
// the earlier calls that conflict with it have ended. Two calls conflict when they have a
// key in common and one of them writes.
import { current } from "svc-internal:context";
import { span } from "svc-internal:trace";

// Key is what is under way on one key: the last write, and the reads after it. Earlier
// writes end before the last one starts.
class Key {
  write = undefined;
  reads = new Set();
}

class Line {
  #keys = new Map();
  #writes = new Set(); // under way on any key
  #lists = new Set(); // reads of all keys under way
  #only = undefined; // the call under way, while it is the only one and in no set

  // call starts a call on keys, or on all keys (null), and gives its result. A call that
  // does not start immediately gets a copy of its arguments. Later calls do not wait for one
  // that sends a stream, whose source may depend on them: its place is where the stream ends.
  call(keys, writes, args, start) {
    if (this.#only !== undefined) this.#unfold();
    const before = this.#before(keys, writes);
    const result = before === undefined ? start(args) : wait(before, copy(args), start);
    if (args[1] instanceof ReadableStream) return result;
    const call = { keys, writes, result };
    if (this.#keys.size === 0 && this.#writes.size === 0 && this.#lists.size === 0) this.#only = call;
    else this.#enter(keys, writes, result);
    return result.then(
      (value) => {
        this.#end(call);
        return value;
      },
      (error) => {
        this.#end(call);
        throw error;
      },
    );
  }

  // unfold notes the only call in the sets. Most calls are awaited one by one, and need none.
  #unfold() {
    const { keys, writes, result } = this.#only;
    this.#only = undefined;
    this.#enter(keys, writes, result);
  }

  #end(call) {
    if (this.#only === call) this.#only = undefined;
    else this.#leave(call.keys, call.writes, call.result);
  }

  // before is what must end before the call starts, undefined for nothing.
  #before(keys, writes) {
    if (keys === null) return this.#writes.size > 0 ? new Set(this.#writes) : undefined;
    if (this.#keys.size === 0 && this.#lists.size === 0) return undefined;
    const before = new Set(writes ? this.#lists : undefined);
    for (const name of keys) {
      const key = this.#keys.get(name);
      if (key?.write) before.add(key.write);
      if (key && writes) for (const read of key.reads) before.add(read);
    }
    return before.size > 0 ? before : undefined;
  }

  // enter notes a call until leave.
  #enter(keys, writes, over) {
    if (writes) this.#writes.add(over);
    else if (keys === null) this.#lists.add(over);
    if (keys !== null) for (const name of keys) this.#note(name, writes, over);
  }

  #leave(keys, writes, over) {
    if (writes) this.#writes.delete(over);
    else if (keys === null) this.#lists.delete(over);
    if (keys !== null) for (const name of keys) this.#forget(name, over);
  }

  #note(name, writes, over) {
    let key = this.#keys.get(name);
    if (!key) this.#keys.set(name, (key = new Key()));
    if (!writes) key.reads.add(over);
    else if (key.write !== over) {
      key.write = over;
      key.reads = new Set();
    }
  }

  #forget(name, over) {
    const key = this.#keys.get(name);
    if (!key) return;
    key.reads.delete(over);
    if (key.write === over) key.write = undefined;
    if (!key.write && key.reads.size === 0) this.#keys.delete(name);
  }
}

async function wait(before, args, start) {
  await Promise.allSettled(before);
  return start(args);
}

// ordered calls start with args, a call on keys of a resource or on all (null), after the
// calls before it. Outside of an invocation it starts immediately.
function ordered(resource, keys, writes, args, start) {
  const invocation = current();
  if (invocation === undefined) return start(args);
  let line = invocation.state.get(resource);
  if (!line) invocation.state.set(resource, (line = new Line()));
  return line.call(keys, writes, args, start);
}

const COPIED = 4; // levels

// copy is the current value of an argument: a call that starts later must not see changes.
export function copy(value, depth = 0) {
  if (typeof value !== "object" || value === null || depth > COPIED) return value;
  if (value instanceof ArrayBuffer) return value.slice(0);
  if (ArrayBuffer.isView(value)) {
    const { buffer, byteOffset, byteLength } = value;
    return new Uint8Array(buffer.slice(byteOffset, byteOffset + byteLength));
  }
  if (value instanceof Headers) return new Headers(value);
  if (Array.isArray(value)) return value.map((v) => copy(v, depth + 1));
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value; // a Date, a Blob
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, copy(v, depth + 1)]));
}

// replace lets handler take the calls of a method of object, which is one of workerd's. The
// method keeps its name, its length and its text.
export function replace(object, name, handler) {
  const value = new Proxy(object[name], { apply: handler });
  Reflect.defineProperty(object, name, { value, configurable: true, enumerable: false, writable: true });
}

// keysOf are the keys that an argument names; undefined when that is workerd's to reject.
function keysOf(argument) {
  if (typeof argument === "string") return [argument];
  const list = Array.isArray(argument) ? argument : [argument];
  const known = list.every((key) => typeof key === "string" || typeof key === "number");
  return known ? list.map(String) : undefined;
}

// keepOrder makes object, a client of resource, keep the order of calls of its methods. Their
// keys are the first argument, unless keyOf gives the one key of the object.
export function keepOrder(object, resource, { reads = [], writes = [], lists = [], keyOf }) {
  const take = (writes, keysOf) => (method, self, args) => {
    const keys = keysOf(args[0]);
    const start = (args) => span(resource, method.name, () => Reflect.apply(method, self, args));
    return keys === undefined || self !== object ? start(args) : ordered(resource, keys, writes, args, start);
  };
  const keys = keyOf ? () => [keyOf(object)] : keysOf;
  for (const name of reads) replace(object, name, take(false, keys));
  for (const name of writes) replace(object, name, take(true, keys));
  for (const name of lists) replace(object, name, take(false, () => null));
  return object;
}
