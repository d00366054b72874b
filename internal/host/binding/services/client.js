// The binding to another worker, as a worker sees it. Each call carries the id of the
// invocation that makes it, how many calls led to it, and the trace that it is a span of, to
// the relay.
import { current } from "svc-internal:context";
import { span } from "svc-internal:trace";

const HEADER = "svc-call"; // of a request to the relay, which removes it
const MAX_DEPTH = 32;

// makeCalls makes calls of resource through a relay; more is what each of them carries in
// addition.
export function makeCalls(relay, resource, more) {
  function call(trace) {
    const invocation = current();
    const depth = (invocation?.depth ?? 0) + 1;
    if (depth > MAX_DEPTH) throw new Error(`Service bindings called each other ${MAX_DEPTH} times in a row: the limit is ${MAX_DEPTH}.`);
    return { id: invocation?.id, depth, trace, ...more };
  }

  async function fetch(input, init) {
    const request = new Request(input, init);
    return span(resource, "fetch", (trace) => {
      request.headers.set(HEADER, JSON.stringify(call(trace)));
      return relay.fetch(request);
    });
  }

  // property is what stands at a path below the binding: a method to call, or a value to await.
  function property(path) {
    const name = path.join(".");
    const then = (...args) => span(resource, name, (trace) => relay.get(call(trace), path)).then(...args);
    return new Proxy((...args) => span(resource, name, (trace) => relay.call(call(trace), path, args)), {
      get(f, key) {
        if (key === "then") return then;
        return typeof key === "string" ? property([...path, key]) : f[key];
      },
    });
  }
  return { fetch, property };
}

export default function makeBinding({ relay, resource }) {
  const { fetch, property } = makeCalls(relay, resource);
  return new Proxy(relay, {
    get(_, key) {
      if (key === "fetch") return fetch;
      if (typeof key !== "string" || key === "then" || key === "constructor") return Reflect.get(relay, key);
      return property([key]);
    },
  });
}
