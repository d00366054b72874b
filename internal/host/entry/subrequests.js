// Loaded before the worker's modules: counts the calls of fetch of each invocation, and
// refuses those beyond LIMIT, which the line above defines.
import { current } from "svc-internal:context";

const { apply } = Reflect;
const refusal = `Too many subrequests by single Worker invocation: the limit is ${LIMIT} (SVC_WORKER_SUBREQUESTS).`;

globalThis.fetch = new Proxy(globalThis.fetch, {
  apply(native, self, args) {
    const state = current()?.state;
    if (state !== undefined) {
      const n = (state.get("subrequests") ?? 0) + 1;
      if (n > LIMIT) return Promise.reject(new Error(refusal));
      state.set("subrequests", n);
    }
    return apply(native, self, args);
  },
});
