// A namespace of a worker is workerd's own object. Its calls on one key run in the order
// in which the worker made them.
import { ordered, replace } from "svc-internal:order";

const resources = new WeakMap(); // by namespace
const patched = new WeakSet(); // prototypes

// keysOf are the keys that an argument names; undefined when that is workerd's to reject.
function keysOf(argument) {
  const list = Array.isArray(argument) ? argument : [argument];
  const known = list.every((key) => typeof key === "string" || typeof key === "number");
  return known ? list.map(String) : undefined;
}

// take is a handler of calls. A value that is a stream is sent as it comes, and what it
// stores counts from its end on: its source may depend on other calls.
const take = (writes, keysOf) => (method, self, args) => {
  const resource = resources.get(self);
  const keys = keysOf(args[0]);
  if (resource === undefined || keys === undefined || args[1] instanceof ReadableStream) return Reflect.apply(method, self, args);
  return ordered(resource, keys, writes, args, (args) => Reflect.apply(method, self, args));
};

function patch(prototype) {
  if (patched.has(prototype)) return;
  patched.add(prototype);
  for (const name of ["get", "getWithMetadata"]) replace(prototype, name, take(false, keysOf));
  for (const name of ["put", "delete"]) replace(prototype, name, take(true, keysOf));
  replace(prototype, "list", take(false, () => null));
}

export default function makeBinding({ namespace, resource }) {
  patch(Object.getPrototypeOf(namespace));
  resources.set(namespace, resource);
  return namespace;
}
