// The binding to another worker, as a worker sees it. Each call carries the id of the
// invocation that makes it, and how many calls led to it, to the relay.
import { current } from "svc-internal:context";

const HEADER = "svc-call"; // of a request to the relay, which removes it
const MAX_DEPTH = 32;

// makeCalls makes calls through a relay; more is what each of them carries in addition.
export function makeCalls(relay, more) {
  function call() {
    const invocation = current();
    const depth = (invocation?.depth ?? 0) + 1;
    if (depth > MAX_DEPTH) throw new Error(`Service bindings called each other ${MAX_DEPTH} times in a row: the limit is ${MAX_DEPTH}.`);
    return { id: invocation?.id, depth, ...more };
  }

  async function fetch(input, init) {
    const request = new Request(input, init);
    request.headers.set(HEADER, JSON.stringify(call()));
    return relay.fetch(request);
  }

  // property is what stands at a path below the binding: a method to call, or a value to await.
  function property(path) {
    const then = (...args) => relay.get(call(), path).then(...args);
    return new Proxy((...args) => relay.call(call(), path, args), {
      get(f, key) {
        if (key === "then") return then;
        return typeof key === "string" ? property([...path, key]) : f[key];
      },
    });
  }
  return { fetch, property };
}

export default function makeBinding({ relay }) {
  const { fetch, property } = makeCalls(relay);
  return new Proxy(relay, {
    get(_, key) {
      if (key === "fetch") return fetch;
      if (typeof key !== "string" || key === "then" || key === "constructor") return Reflect.get(relay, key);
      return property([key]);
    },
  });
}
