// A namespace of a worker is workerd's own object, and so are the stubs that it gives. Requests
// to objects are spans of traces; calls of their methods are not.
import { span } from "svc-internal:trace";

const { apply, defineProperty } = Reflect;

// replace lets handler take the calls of a method of object, which keeps its name and text.
function replace(object, name, handler) {
  const value = new Proxy(object[name], { apply: handler });
  defineProperty(object, name, { value, configurable: true, enumerable: false, writable: true });
}

export default function makeBinding({ objects, resource }) {
  for (const name of ["get", "getByName"]) {
    replace(objects, name, (method, self, args) => {
      const stub = apply(method, self, args);
      replace(stub, "fetch", (method, self, args) => span(resource, "fetch", () => apply(method, self, args)));
      return stub;
    });
  }
  return objects;
}
