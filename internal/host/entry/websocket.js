// Loaded before the worker's modules: a listener of a websocket is called as an invocation with
// the id of the one that added it, that of the request that opened the websocket.
import { report } from "svc-internal:console";
import { Invocation, current, run } from "svc-internal:context";

const { apply, defineProperty } = Reflect;
const { prototype } = WebSocket;
const listeners = new WeakMap(); // of websockets: the worker's listeners and ours

// ours is the function that stands for a listener of socket.
function ours(socket, listener, { depth, id }) {
  let known = listeners.get(socket);
  if (!known) listeners.set(socket, (known = new WeakMap()));
  let value = known.get(listener);
  if (!value) {
    value = (...args) => run(new Invocation(undefined, { depth, id }), call, listener, socket, args);
    known.set(listener, value);
  }
  return value;
}

function call(listener, socket, args) {
  try {
    return apply(listener, socket, args);
  } catch (e) {
    report(e);
    throw e;
  }
}

function replace(name, standIn) {
  const value = new Proxy(prototype[name], {
    apply: (native, self, [type, listener, ...rest]) => apply(native, self, [type, standIn(self, listener) ?? listener, ...rest]),
  });
  defineProperty(prototype, name, { configurable: true, writable: true, value });
}

replace("addEventListener", (socket, listener) => {
  const invocation = current();
  return invocation && typeof listener === "function" && socket instanceof WebSocket ? ours(socket, listener, invocation) : undefined;
});
replace("removeEventListener", (socket, listener) => listeners.get(socket)?.get(listener));
