// The binding to another worker, as a worker sees it. Each call carries the id of the
// invocation that makes it, and how many calls led to it, to the relay.
import { current } from "svc-internal:context";

const HEADER = "svc-call"; // of a request to the relay, which removes it
const MAX_DEPTH = 32;

function call() {
  const invocation = current();
  const depth = (invocation?.depth ?? 0) + 1;
  if (depth > MAX_DEPTH) throw new Error(`Service bindings called each other ${MAX_DEPTH} times in a row: the limit is ${MAX_DEPTH}.`);
  return { id: invocation?.id, depth };
}

async function fetch(relay, input, init) {
  const request = new Request(input, init);
  request.headers.set(HEADER, JSON.stringify(call()));
  return relay.fetch(request);
}

// property is what stands at a path below the binding: a method to call, or a value to await.
function property(relay, path) {
  const then = (...args) => relay.get(call(), path).then(...args);
  return new Proxy((...args) => relay.call(call(), path, args), {
    get(f, key) {
      if (key === "then") return then;
      return typeof key === "string" ? property(relay, [...path, key]) : f[key];
    },
  });
}

export default function makeBinding({ relay }) {
  const own = (...args) => fetch(relay, ...args);
  return new Proxy(relay, {
    get(_, key) {
      if (key === "fetch") return own;
      if (typeof key !== "string" || key === "then" || key === "constructor") return Reflect.get(relay, key);
      return property(relay, [key]);
    },
  });
}
