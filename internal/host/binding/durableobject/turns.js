// Turns for calls that open Durable Objects. workerd opens an object on its one thread, within the call, and
// waits for the disk several times when the object is new: 15 to 60 ms. As long as a next one is there
// to be opened, workerd reads no request. So once openings have used BUDGET of the thread, each further one
// needs a turn, and there is one turn for each time that workerd looks at its sockets and timers.
import { current } from "svc-internal:context";
import { Queue } from "svc-internal:object-lines";

const { max } = Math;
const { now } = Date;

const BUDGET = 300; // ms of the thread for openings that need no turn
const SHARE = 4; // ms after which one ms is given back
const FEW = 4; // calls at a time that open objects of other workers
const LOST = 2000; // ms after which such a call counts no more
const KNOWN = 4096; // objects of one generation of known

// The objects that were opened last, which are probably open. At most two generations are kept.
let known = new Set();
let before = new Set();

// isOpen says whether calls of an object need no turn.
export const isOpen = (id) => known.has(id) || before.has(id);

// open notes that an object is opened.
function open(id) {
  if (known.size >= KNOWN) [before, known] = [known, new Set()];
  known.add(id);
}

const own = new Queue(() => true);
let whole = 0; // when all of BUDGET is there again

// immediately opens an object without a turn.
function immediately(id, start) {
  const began = now();
  open(id);
  try {
    return start();
  } finally {
    whole = max(whole, began) + SHARE * max(1, now() - began);
  }
}

// begin gives start(), a call of an object, if that needs no turn. Otherwise it gives later(turn): turn is
// a promise that resolves when the call may start, and rejects when it may not.
export function begin(id, start, later) {
  if (isOpen(id)) return start();
  if (own.length === 0 && whole - now() < SHARE * BUDGET) return immediately(id, start);
  return later(own.lineOf(current()).call(id).then(() => open(id)));
}

const started = new Map(); // when calls began that open objects of other workers
const far = new Queue(isFree);

function isFree() {
  const time = now();
  for (const [id, began] of started) if (time - began > LOST) started.delete(id);
  return started.size < FEW;
}

// beginFar is begin for an object of another worker, whose thread is busy then. Both start() and
// later(turn) are promises.
export function beginFar(id, start, later) {
  if (isOpen(id)) return start();
  const opens = () => {
    open(id);
    started.set(id, now());
  };
  const free = far.length === 0 && isFree();
  if (free) opens();
  const result = free ? start() : later(far.lineOf(current()).call(id).then(opens));
  const end = () => started.delete(id);
  result.then(end, end);
  return result;
}
