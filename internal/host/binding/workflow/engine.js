// One run of run(): steps that have ended give what is stored, the others happen now and are stored. When all that is
// left is waiting, the run ends; the worker host begins another one in time.
import { RpcTarget, WorkerEntrypoint } from "cloudflare:workers";
import { call, duration, fault } from "store.js";
import { decode, encode } from "value.js";

const REST = 250; // milliseconds: a shorter wait happens within the run
const GRACE = 50; // milliseconds that a run only waits before it ends: work outside of steps may begin another one
const BEGIN = 5; // milliseconds after which an attempt under way is recorded; see #attempt
const DELAY_FUNCTION = 5000; // milliseconds that a delay function has
const MAX_STEPS = 10_000;
const MAX_VALUE = 1 << 20; // bytes
const LONGEST = 2 ** 31 - 1; // milliseconds of a timer
const DEFAULTS = { retries: { limit: 5, delay: 10_000, backoff: "exponential" }, timeout: "10 minutes" };
const BACKOFF = ["constant", "linear", "exponential"];

// never gives a promise of its own to each that waits: one for all would keep what waits for it in memory.
const never = () => new Promise(() => {});
const fatal = (message) => fault("WorkflowFatalError", message);
const plain = (e) => ({ name: String(e?.name ?? "Error"), message: String(e?.message ?? e) });

// A NonRetryableError keeps its name across RPC with a compatibility date from 2026-04-21 on; its message has it before.
const isFinal = (e) => e?.name === "NonRetryableError" || String(e?.message).startsWith("NonRetryableError");

// unhandled is the error of an instance whose run() ended with e.
function unhandled(e) {
  if (!isFinal(e)) return plain(e);
  return { name: "NonRetryableError", message: String(e.message).replace(/^NonRetryableError:?\s*/, "") };
}

const isSpan = (d) => (typeof d === "number" && d >= 0) || (typeof d === "string" && duration(d) >= 0);

// isConfig reports whether c is the configuration of a step.
function isConfig(c) {
  if (c === undefined) return true;
  if (typeof c !== "object" || c === null) return false;
  const { retries, timeout, sensitive, ...rest } = c;
  if (Object.keys(rest).length > 0 || (sensitive !== undefined && sensitive !== "output")) return false;
  if (timeout !== undefined && (!isSpan(timeout) || timeout === 0)) return false;
  if (retries === undefined) return true;
  const { limit, delay, backoff, ...other } = retries;
  if (Object.keys(other).length > 0 || !Number.isInteger(limit) || limit < 0) return false;
  return (typeof delay === "function" || isSpan(delay)) && (backoff === undefined || BACKOFF.includes(backoff));
}

// Timer is a promise that a timer keeps, unless it is stopped.
class Timer {
  constructor(ms, f) {
    this.promise = new Promise((resolve, reject) => (this.id = setTimeout(() => (f ? reject(f()) : resolve()), Math.min(ms, LONGEST))));
    this.promise.catch(() => {});
  }

  stop() {
    clearTimeout(this.id);
  }
}

class Drive {
  #env;
  #job;
  #stored; // steps of earlier runs, by key
  #counts = new Map(); // uses of a name
  #steps = 0;
  #busy = 0; // attempts under way, with the storing of what they gave
  #waiting = new Map(); // keys of the steps that wait, and until when
  #resting; // the timer that ends a run which only waits
  #stopping = false; // no attempt begins any more
  #end;
  #ended = new Promise((resolve) => (this.#end = resolve));

  constructor(env, job) {
    this.#env = env;
    this.#job = job;
    this.#stored = new Map(job.steps.map((s) => [s.key, s]));
  }

  // run ends when the instance is finished, when it only waits, or when the worker host wants it to. It gives the outcome
  // of the event.
  async run() {
    const { id, workflow, params, created } = this.#job;
    const event = { payload: decode(params), timestamp: new Date(created), instanceId: id, workflowName: workflow };
    const finished = this.#finish(this.#env.CLASS.run(event, new Step(this)));
    return Promise.race([finished, this.#ended]);
  }

  async #finish(result) {
    let end;
    let outcome = { outcome: "ok" };
    try {
      end = { op: "complete", ...this.#output(await result) };
    } catch (e) {
      end = { op: "errored", error: unhandled(e) };
      outcome = { outcome: "exception", error: `${end.error.name}: ${end.error.message}` };
    }
    await this.#save([end]);
    return outcome;
  }

  #output(output) {
    try {
      const { json, bytes } = encode(output);
      if (bytes <= MAX_VALUE) return { value: JSON.parse(json) };
    } catch {
      throw fatal("The execution of the Workflow instance was terminated, as run() returned a value which is not serialisable");
    }
    throw fatal("The output of the Workflow instance is too large. Maximum allowed size is 1MiB.");
  }

  // save stores records. It does not return when the run is over.
  async #save(records) {
    let answer;
    try {
      answer = await call(this.#env.STORE, "save", { drive: this.#job.drive, records });
    } catch (e) {
      if (e.name !== "over") throw e;
      this.#end({ outcome: "ok" });
      return never();
    }
    if (answer.stop) this.#stop();
    return answer;
  }

  // stop ends the run as soon as no attempt is under way.
  #stop() {
    this.#stopping = true;
    this.#settle();
  }

  // settle ends a run that only waits, or is to stop.
  #settle() {
    this.#resting?.stop();
    this.#resting = undefined;
    if (this.#busy > 0) return;
    if (this.#stopping) return void this.#close({ op: "stopped" });
    if (this.#waiting.size === 0 || Math.min(...this.#waiting.values()) - Date.now() <= REST) return;
    this.#resting = new Timer(GRACE);
    this.#resting.promise.then(() => this.#close({ op: "suspended", keys: [...this.#waiting.keys()] }));
  }

  async #close(record) {
    this.#busy++; // closed once
    this.#stopping = true;
    await this.#save([record]);
    this.#end({ outcome: "ok" });
  }

  // enter does not return when no step may continue.
  async #enter() {
    if (!this.#stopping) return;
    this.#settle();
    await never();
  }

  // wait waits until a time, or until f has a value.
  async #wait(key, due, f) {
    this.#waiting.set(key, due);
    this.#settle();
    const timer = new Timer(Math.max(0, due - Date.now()));
    try {
      return await (f ? f() : timer.promise);
    } finally {
      timer.stop();
      this.#waiting.delete(key);
      this.#settle();
    }
  }

  // step is the use of a step: what names it, and what is stored about it.
  #step(type, name) {
    if (typeof name !== "string" || name.length > 256 || /[\x00-\x1f]/.test(name)) {
      throw fatal(`Step name "${name}" exceeds max length (256 chars) or invalid characters found`);
    }
    const count = (this.#counts.get(`${type}:${name}`) ?? 0) + 1;
    this.#counts.set(`${type}:${name}`, count);
    const key = `${type}:${count}:${name}`;
    return { names: { key, type, name, count }, stored: this.#stored.get(key) };
  }

  async #value({ key, value, apart }) {
    return decode(apart ? (await call(this.#env.STORE, "value", { drive: this.#job.drive, key })).value : value);
  }

  async do(name, config, callback, rollback) {
    if (typeof config === "function") [config, callback, rollback] = [undefined, config, callback];
    if (typeof callback !== "function") throw fatal(`Step "${name}" requires a callback function`);
    if (rollback !== undefined) throw fatal(`Step "${name}" has a rollback, which is not supported`);
    if (!isConfig(config)) {
      throw fatal(`Step config for "${name}" is in a invalid format. See https://developers.cloudflare.com/workflows/build/sleeping-and-retrying/`);
    }
    await this.#enter();
    if (++this.#steps > MAX_STEPS) {
      throw fatal(`The limit of ${MAX_STEPS} steps has been reached. This limit can be changed in your worker configuration.`);
    }
    const { names, stored } = this.#step("do", name);
    if (stored?.state === "done") return this.#value(stored);
    if (stored?.state === "failed") throw fault(stored.error.name, stored.error.message);
    return this.#attempts(names, { ...DEFAULTS, ...config, retries: { ...DEFAULTS.retries, ...config?.retries } }, stored, callback);
  }

  async #attempts(names, config, stored, callback) {
    let attempt = stored?.attempts ?? 0;
    if (stored?.interrupted && attempt > config.retries.limit) {
      const e = fault("WorkflowInternalError", `Attempt ${attempt} of step "${names.name}" did not finish`);
      await this.#save([{ op: "failed", ...names, attempt, at: Date.now(), error: plain(e) }]);
      throw e;
    }
    let due = stored?.due ?? 0;
    for (;;) {
      if (due > Date.now()) await this.#wait(names.key, due);
      await this.#enter();
      attempt++;
      this.#busy++;
      this.#settle();
      try {
        const result = await this.#attempt(names, config, attempt, callback);
        if ("value" in result) return result.value;
        due = result.due;
      } finally {
        this.#busy--;
        this.#settle();
      }
    }
  }

  // attempt calls the callback once, and stores what it gave: {value}, or {due} for another attempt. It throws the error
  // of a step that has failed.
  //
  // That it began is stored too, for the case that the process dies with it. A short attempt is stored once, with its
  // result. After a run that died, and for a step without retries, no attempt begins before it is stored.
  async #attempt(names, config, attempt, callback) {
    const shown = { ...config, retries: { ...config.retries } };
    if (typeof shown.retries.delay === "function") delete shown.retries.delay;
    const base = { ...names, attempt, at: Date.now() };
    const begin = () => this.#save([{ op: "begin", ...base, config: shown }]);
    const context = { step: { name: names.name, count: names.count }, attempt, config: shown };
    const limit = duration(config.timeout);
    let recording;
    if (this.#job.careful || config.retries.limit === 0) await begin();
    else recording = setTimeout(() => begin().catch(() => {}), BEGIN);
    const late = new Timer(limit, () => fault("WorkflowTimeoutError", `Execution timed out after ${limit}ms`));
    let failure;
    let value;
    try {
      value = await Promise.race([callback(context), late.promise]);
    } catch (e) {
      failure = e ?? fault("Error", String(e));
    } finally {
      clearTimeout(recording);
      late.stop();
    }
    if (failure === undefined) {
      const stored = await this.#result(names, value);
      failure = stored.failure;
      if (failure === undefined) {
        await this.#save([{ op: "done", ...base, config: shown, value: stored.value, hidden: config.sensitive === "output" || undefined }]);
        return { value };
      }
    }
    if (isFinal(failure) || attempt > config.retries.limit) return this.#fail(base, shown, failure);
    let delay;
    try {
      delay = await this.#delay(names, config, failure, context, attempt);
    } catch (e) {
      return this.#fail(base, shown, e);
    }
    return this.#save([{ op: "retry", ...base, config: shown, error: plain(failure), delay: Math.round(delay) }]);
  }

  async #fail(base, config, e) {
    await this.#save([{ op: "failed", ...base, config, error: plain(e) }]);
    throw e;
  }

  // result is what a step gave, for the store. What cannot be stored ends the instance; what is too large fails the
  // attempt.
  async #result(names, value) {
    try {
      const { json, bytes } = encode(value);
      if (bytes <= MAX_VALUE) return { value: JSON.parse(json) };
    } catch {
      const what = value instanceof ReadableStream ? "a ReadableStream, which is not supported" : "a value which is not serialisable";
      const e = fatal(`The execution of the Workflow instance was terminated, as the step "${names.name}" returned ${what}`);
      await this.#save([{ op: "errored", error: plain(e) }]);
      this.#end({ outcome: "exception", error: `${e.name}: ${e.message}` });
      return never();
    }
    return { failure: fault("WorkflowInternalError", `Step ${names.name}-${names.count} output is too large. Maximum allowed size is 1MiB.`) };
  }

  // delay is the time in milliseconds before the next attempt.
  async #delay(names, { retries }, failure, ctx, attempt) {
    if (typeof retries.delay === "function") return this.#asked(names, retries.delay, { ctx, error: failure });
    const base = duration(retries.delay);
    if (retries.backoff === "linear") return base * attempt;
    return retries.backoff === "exponential" ? base * 2 ** (attempt - 1) : base;
  }

  async #asked(names, delay, argument) {
    const refuse = (why) => fault("NonRetryableDelayError", `The delay function for step "${names.name}-${names.count}" ${why}`);
    const late = new Timer(DELAY_FUNCTION, () => refuse("did not return within 5 seconds"));
    let given;
    try {
      given = await Promise.race([delay(argument), late.promise]);
    } catch (e) {
      throw e?.name === "NonRetryableDelayError" ? e : refuse(`threw an error: ${e?.message}`);
    } finally {
      late.stop();
    }
    const ms = typeof given === "string" ? duration(given) : given;
    if (typeof ms === "number" && Number.isFinite(ms) && ms >= 0) return ms;
    throw refuse('returned an invalid delay value (expected a number of ms or a duration string like "30 seconds")');
  }

  async sleep(name, span, until) {
    await this.#enter();
    const { names, stored } = this.#step("sleep", name);
    if (stored?.state === "done") return;
    let due = stored?.due;
    if (due === undefined) {
      const now = Date.now();
      due = until === undefined ? now + duration(span) : +new Date(until);
      if (Number.isNaN(due)) throw fatal(`Invalid duration "${until ?? span}"`);
      if (due < now) throw new Error("You can't sleep until a time in the past, time-traveler");
      await this.#save([{ op: "sleep", ...names, at: now, due: Math.round(due) }]);
    }
    await this.#wait(names.key, due);
    await this.#enter();
    await this.#save([{ op: "woken", ...names, at: Date.now() }]);
  }

  async waitForEvent(name, { type, timeout = "24 hours" } = {}) {
    await this.#enter();
    const { names, stored } = this.#step("waitForEvent", name);
    let now = stored;
    if (now === undefined) {
      const limit = duration(timeout);
      if (Number.isNaN(limit)) throw fatal(`Invalid duration "${timeout}"`);
      now = await this.#save([{ op: "wait", ...names, at: Date.now(), event: String(type), limit: Math.round(limit) }]);
    }
    if (now.state === "waiting") {
      now = await this.#wait(names.key, now.due, () => call(this.#env.STORE, "wait", { drive: this.#job.drive, key: names.key }));
      if (now.stop) this.#stop();
      await this.#enter();
    }
    if (now.state === "failed") throw fault(now.error.name, now.error.message);
    return this.#value({ key: names.key, ...now });
  }
}

// Step is what run() gets.
class Step extends RpcTarget {
  #drive;

  constructor(drive) {
    super();
    this.#drive = drive;
  }

  do(...args) {
    return this.#drive.do(...args);
  }

  sleep(name, span) {
    return this.#drive.sleep(name, span);
  }

  sleepUntil(name, until) {
    return this.#drive.sleep(name, undefined, until);
  }

  waitForEvent(name, options) {
    return this.#drive.waitForEvent(name, options);
  }
}

// Runner is where the door's shim sends a run.
export class Runner extends WorkerEntrypoint {
  run(job) {
    return new Drive(this.env, JSON.parse(job)).run();
  }
}

export default {};
