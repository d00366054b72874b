// Turns for calls that open Durable Objects. workerd opens an object on its one thread, within the call, and
// waits for the disk several times when the object is new: 15 to 60 ms. As long as a next one is there
// to be opened, workerd reads no request. So once openings have used BUDGET of the thread, each further one
// needs a turn. An invocation takes the turn if none was taken since it set its last timer: workerd has
// looked at its sockets and timers meanwhile. Invocations that wait take turns one after another.
//
// A call that waits has a timer of its invocation. When the client leaves, workerd ends the invocation
// with its timers, and so its calls lose their places.
import { current } from "svc-internal:context";

const { min, max } = Math;
const { now } = Date;
const { Promise } = globalThis; // workers may replace it
const wait = scheduler.wait.bind(scheduler);

const BUDGET = 300; // ms of the thread for openings that need no turn
const SHARE = 4; // ms after which one ms is given back
const PATIENCE = 5000; // ms that an invocation waits for a turn
const SLOWEST = 50; // ms between two looks whether a turn came
const STALE = 250; // ms without a look, after which an invocation has ended
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

const lines = []; // the invocations that wait, in the order of their turns
let turns = 0; // that were taken

// Line is the calls of one invocation that wait.
class Line {
  #calls = new Map(); // by the ids of objects
  #waited = 0; // ms since its last turn
  seen = now(); // when it looked

  // call is a promise that resolves when calls of an object may begin.
  call(id) {
    let call = this.#calls.get(id);
    if (call === undefined) {
      call = {};
      call.turn = new Promise((resolve, reject) => Object.assign(call, { resolve, reject }));
      this.#calls.set(id, call);
      if (this.#calls.size === 1) this.#run();
    }
    return call.turn;
  }

  async #run() {
    lines.push(this);
    while (this.#calls.size > 0) {
      const last = turns;
      await wait(min(1 + max(0, lines.indexOf(this)), SLOWEST));
      this.#look();
      if (last === turns && lines[0] === this) this.#take();
      if (this.#waited >= PATIENCE) this.#giveUp();
    }
    const i = lines.indexOf(this);
    if (i >= 0) lines.splice(i, 1);
  }

  // look notes that the invocation has not ended. The thread may have been busy for so long that this
  // seemed so.
  #look() {
    const time = now();
    this.#waited += min(time - this.seen, 2 * SLOWEST); // a busy thread did not serve others instead
    this.seen = time;
    if (!lines.includes(this)) lines.push(this);
    forgetEnded(time);
  }

  #take() {
    turns++;
    lines.push(lines.shift());
    this.#waited = 0;
    const [id, call] = this.#calls.entries().next().value;
    this.#calls.delete(id);
    call.resolve();
  }

  #giveUp() {
    const text = `Too many new Durable Objects: this call waited ${PATIENCE / 1000} seconds for its turn, and ${lines.length - 1} other requests or events of the version wait, too.`;
    for (const { reject } of this.#calls.values()) reject(Object.assign(new Error(text), { overloaded: true }));
    this.#calls.clear();
  }
}

// forgetEnded removes lines from the front whose invocation has ended.
function forgetEnded(time) {
  while (lines.length > 0 && time - lines[0].seen > STALE) lines.shift();
}

// begin gives start(), a call of an object, if that needs no turn. Otherwise it gives later(turn): turn is
// a promise that resolves when the call may start, and rejects when it may not.
export function begin(id, start, later) {
  if (isOpen(id)) return start();
  const time = now();
  forgetEnded(time);
  if (lines.length === 0 && whole - time < SHARE * BUDGET) return immediately(id, start);
  return later(lineOf(current()).call(id).then(() => open(id)));
}

const KEY = "objects"; // of an invocation's state

// lineOf is the line of an invocation; a call outside of one has its own.
function lineOf(invocation) {
  if (invocation === undefined) return new Line();
  let line = invocation.state.get(KEY);
  if (line === undefined) invocation.state.set(KEY, (line = new Line()));
  return line;
}
