// Collects garbage when no invocation is under way. A full collection destroys the objects of all requests
// since the last one, at 3 µs each: 26 ms for the thousands after which V8 begins one, 1 to 2 ms for 250.
const collect = globalThis.gc; // undefined without --expose-gc
globalThis.gc = undefined; // not for the worker
const { scheduler } = globalThis; // workers may replace it
const { now } = Date;

const SOON = 250; // invocations between two collections
const LATE = 20_000; // the same for a worker whose own objects make a collection long
const PATIENCE = 4; // times as many invocations, after which the ones under way count as ended
const LONG = 4; // ms
const TIMES = 3; // long collections in a row; a single one may have waited for the processor

let every = SOON;
let long = 0; // long collections in a row
let since = 0; // invocations since the last collection
let under = 0; // invocations under way, of those that began since the last change of era
let era = 0;

// entered is called at the begin of an invocation, and gives what left takes.
export function entered() {
  under++;
  return era;
}

// left is called at the end of an invocation. ctx is its context. It is not called for an invocation that
// workerd ends while its promise waits: such ones are forgotten after a while.
export function left(ctx, began) {
  if (began === era) under--;
  if (++since < every || collect === undefined) return;
  if (under > 0) {
    if (since < PATIENCE * every) return;
    under = 0;
    era++;
  }
  since = 0;
  try {
    ctx.waitUntil(scheduler.wait(0).then(rest)); // when the response has left
  } catch {} // an object of the worker's own kind
}

function rest() {
  if (under > 0) return;
  const began = now();
  collect({ type: "major", execution: "sync" });
  long = now() - began > LONG ? long + 1 : 0;
  every = long < TIMES ? SOON : LATE;
}
