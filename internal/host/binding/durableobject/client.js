// A namespace of a worker is workerd's own object, and so are the stubs that it gives. Calls of an object
// that is not open wait for their turn (turns.js). In traces, requests to objects are spans; calls of
// their methods are not.
import { copy } from "svc-internal:order";
import { begin, isOpen } from "svc-internal:object-turns";
import { span } from "svc-internal:trace";

const { apply, defineProperty, get, getPrototypeOf, setPrototypeOf } = Reflect;
const { create } = Object;
const { Promise } = globalThis; // workers may replace it

// replace lets handler take the calls of a method of object, which keeps its name and text.
function replace(object, name, handler) {
  const value = new Proxy(object[name], { apply: handler });
  defineProperty(object, name, { value, configurable: true, enumerable: false, writable: true });
}

const idOf = (stub) => String(stub.id);
const isPromise = (name) => name === "then" || name === "catch" || name === "finally";

// later is what a call gives that has not begun: a promise, whose properties and methods can be used
// before, as those of the promise that workerd gives. take is what workerd gives, once begun resolves.
function later(begun, take) {
  begun.catch(() => {}); // what uses it has the error
  return new Proxy(() => {}, {
    get(_, name) {
      if (isPromise(name)) return (...args) => begun.then(take)[name](...args);
      if (name === Symbol.dispose) return () => void begun.then(() => take()[name]?.()).catch(() => {});
      return typeof name === "symbol" ? undefined : later(begun, () => take()[name]);
    },
    apply: (_, __, args) => calling(begun, take, args),
  });
}

// calling calls the function that take gives once begun resolves, with args of now.
function calling(begun, take, args) {
  let result;
  const copies = copy(args);
  const call = () => {
    result = take()(...copies);
  };
  return later(begun.then(call), () => result);
}

// method is a method or a property of an object that is not open. Its calls wait for their turn, which
// begin gives: begin or beginFar of turns.js.
export function method(id, value, begin) {
  return new Proxy(value, {
    get(_, name) {
      const inner = get(value, name, value);
      if (typeof inner !== "function" || typeof name === "symbol") return inner;
      if (!isPromise(name)) return method(id, inner, begin);
      return (...args) => begin(id, () => apply(inner, value, args), (turn) => turn.then(() => value)[name](...args));
    },
    apply(_, self, args) {
      const call = (...args) => apply(value, self, args);
      return begin(id, () => call(...args), (turn) => calling(turn, () => call, args));
    },
  });
}

// fetchOf is the method fetch of a stub.
export const fetchOf = (id, fetch, begin) =>
  new Proxy(fetch, {
    apply(_, self, args) {
      const call = () => apply(fetch, self, args);
      return begin(id, call, (turn) => turn.then(call));
    },
  });

// Those of the stub that no object has.
const own = (name) => typeof name === "symbol" || name === "connect" || name === "dup" || name in Object.prototype;

// guarded is the prototype of stubs whose object is not open, in front of workerd's own. workerd gives
// methods of objects to stubs with its own alone.
const guarded = (prototype) =>
  new Proxy(create(prototype), {
    has: (_, name) => name in prototype || (anyMethod && typeof name === "string" && name !== "then"),
    get(_, name, stub) {
      if (getPrototypeOf(stub) !== guard) return get(prototype, name, stub);
      setPrototypeOf(stub, prototype);
      const value = stub[name];
      if (typeof value !== "function" || own(name)) {
        setPrototypeOf(stub, guard);
        return value;
      }
      const id = idOf(stub);
      if (isOpen(id)) return value;
      setPrototypeOf(stub, guard);
      return name === "fetch" ? fetchOf(id, value, begin) : method(id, value, begin);
    },
  });

let native; // the prototype of stubs
let guard;
let anyMethod; // whether stubs have every name

// guardStub has the calls of a stub wait for their turn.
function guardStub(stub) {
  native ??= getPrototypeOf(stub);
  anyMethod ??= "anyMethod" in stub;
  guard ??= guarded(native);
  if (getPrototypeOf(stub) === native && !isOpen(idOf(stub))) setPrototypeOf(stub, guard);
  return stub;
}

const GIVES = ["get", "getByName", "getExisting"];
const seen = new WeakSet(); // prototypes of namespaces

// guardNamespaces has the stubs of all namespaces of the worker guarded, also those of ctx.exports.
function guardNamespaces(prototype) {
  if (seen.has(prototype)) return;
  seen.add(prototype);
  for (const name of GIVES) {
    if (typeof prototype[name] === "function") replace(prototype, name, (f, self, args) => guardStub(apply(f, self, args)));
  }
}

export default function makeBinding({ objects, resource }) {
  guardNamespaces(getPrototypeOf(objects));
  if (resource === undefined) return objects; // nothing is traced
  for (const name of ["get", "getByName"]) {
    replace(objects, name, (method, self, args) => {
      const stub = apply(method, self, args);
      replace(stub, "fetch", (method, self, args) => span(resource, "fetch", () => apply(method, self, args)));
      return stub;
    });
  }
  return objects;
}
