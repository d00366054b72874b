// Lines of calls that wait for a turn. Invocations take turns one after another, whatever the number of
// their calls. A call that waits has a timer of its invocation: when the client leaves, workerd ends the
// invocation with its timers, and so its calls lose their places.
const { min, max } = Math;
const { now } = Date;
const { Promise } = globalThis; // workers may replace it
const wait = scheduler.wait.bind(scheduler);

const PATIENCE = 5000; // ms that an invocation waits for a turn
const SLOWEST = 50; // ms between two looks whether a turn came
const STALE = 250; // ms without a look, after which an invocation has ended

// Line is the calls of one invocation that wait.
class Line {
  #queue;
  #calls = new Map(); // by the ids of objects
  #waited = 0; // ms since its last turn
  seen = now(); // when it looked

  constructor(queue) {
    this.#queue = queue;
  }

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
    const queue = this.#queue;
    queue.add(this);
    while (this.#calls.size > 0) {
      const { turns } = queue;
      await wait(min(1 + queue.before(this), SLOWEST));
      this.#look();
      if (queue.take(this, turns)) this.#next();
      if (this.#waited >= PATIENCE) this.#giveUp();
    }
    queue.remove(this);
  }

  // look notes that the invocation has not ended. The thread may have been busy for so long that this
  // seemed so.
  #look() {
    const time = now();
    this.#waited += min(time - this.seen, 2 * SLOWEST); // a busy thread did not serve others instead
    this.seen = time;
    this.#queue.add(this);
  }

  #next() {
    this.#waited = 0;
    const [id, call] = this.#calls.entries().next().value;
    this.#calls.delete(id);
    call.resolve();
  }

  #giveUp() {
    const text = `Too many new Durable Objects: this call waited ${PATIENCE / 1000} seconds for its turn, and ${this.#queue.length - 1} other requests or events of the version wait, too.`;
    for (const { reject } of this.#calls.values()) reject(Object.assign(new Error(text), { overloaded: true }));
    this.#calls.clear();
  }
}

// Queue has the lines of the invocations that wait, in the order of their turns. free() says whether a turn
// can be taken at all.
export class Queue {
  #free;
  #lines = [];
  turns = 0; // that were taken

  constructor(free) {
    this.#free = free;
  }

  // length is the number of invocations that wait.
  get length() {
    const time = now();
    while (this.#lines.length > 0 && time - this.#lines[0].seen > STALE) this.#lines.shift();
    return this.#lines.length;
  }

  add(line) {
    if (!this.#lines.includes(line)) this.#lines.push(line);
  }

  // before is how many lines are before one.
  before(line) {
    return max(0, this.#lines.indexOf(line));
  }

  // take takes the turn for a line, if it is the first one and no turn was taken since there were turns
  // of them: workerd has looked at its sockets and timers meanwhile.
  take(line, turns) {
    if (this.length === 0 || this.#lines[0] !== line || this.turns !== turns || !this.#free()) return false;
    this.turns++;
    this.#lines.push(this.#lines.shift());
    return true;
  }

  remove(line) {
    const i = this.#lines.indexOf(line);
    if (i >= 0) this.#lines.splice(i, 1);
  }

  // lineOf is the line of an invocation; a call outside of one has its own.
  lineOf(invocation) {
    if (invocation === undefined) return new Line(this);
    let line = invocation.state.get(this);
    if (line === undefined) invocation.state.set(this, (line = new Line(this)));
    return line;
  }
}
