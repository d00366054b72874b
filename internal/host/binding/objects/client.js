// A bucket of a worker is workerd's own object. Its calls on one key run in the order in
// which the worker made them.
import { ordered, replace } from "svc-internal:order";

const resources = new WeakMap(); // by bucket and by upload
const patched = new WeakSet(); // prototypes

// keysOf are the keys that an argument names; undefined when that is workerd's to reject.
function keysOf(argument) {
  const list = Array.isArray(argument) ? argument : [argument];
  return list.every((key) => typeof key === "string") ? list : undefined;
}

// take is a handler of calls. A body that is a stream is sent as it comes, and what it
// stores counts from its end on: its source may depend on other calls.
const take = (writes, keysOf) => (method, self, args) => {
  const resource = resources.get(self);
  const keys = keysOf(args[0]);
  if (resource === undefined || keys === undefined || args[1] instanceof ReadableStream) return Reflect.apply(method, self, args);
  return ordered(resource, keys, writes, args, (args) => Reflect.apply(method, self, args));
};

// uploads notes to which resource an upload belongs that a bucket gives.
function noteUpload(upload, resource) {
  resources.set(upload, resource);
  patchUpload(Object.getPrototypeOf(upload));
  return upload;
}

// complete is what an upload writes. Its parts are apart from the object until then.
function patchUpload(prototype) {
  if (patched.has(prototype)) return;
  patched.add(prototype);
  replace(prototype, "complete", (method, self, args) => {
    const resource = resources.get(self);
    if (resource === undefined) return Reflect.apply(method, self, args);
    return ordered(resource, [self.key], true, args, (args) => Reflect.apply(method, self, args));
  });
}

function patch(prototype) {
  if (patched.has(prototype)) return;
  patched.add(prototype);
  for (const name of ["get", "head"]) replace(prototype, name, take(false, keysOf));
  for (const name of ["put", "delete"]) replace(prototype, name, take(true, keysOf));
  replace(prototype, "list", take(false, () => null));
  replace(prototype, "createMultipartUpload", (method, self, args) => {
    const resource = resources.get(self);
    return Reflect.apply(method, self, args).then((upload) => noteUpload(upload, resource));
  });
  replace(prototype, "resumeMultipartUpload", (method, self, args) => noteUpload(Reflect.apply(method, self, args), resources.get(self)));
}

export default function makeBinding({ bucket, resource }) {
  patch(Object.getPrototypeOf(bucket));
  resources.set(bucket, resource);
  return bucket;
}
