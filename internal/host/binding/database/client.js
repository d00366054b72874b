// The D1 API of a worker. It says what workerd's own module says, in the same words.
//
// Over all calls of one invocation the statements take effect as if they ran one at a
// time, in the order in which the worker made the calls. The calls of one turn of the event
// loop leave as one request, an array in that order. While a request that may write is
// under way, later calls of the invocation wait and leave together; reads leave beside reads.
import wrappedBinding from "cloudflare-internal:wrapped-binding";
import { current } from "svc-internal:context";
import { span } from "svc-internal:trace";

const CALLS = "http://d1/calls";
const IN_URL = "http://d1/calls?";
const HEADERS = { "content-type": "application/json" }; // copied by fetch, never changed

// A request has at most so much, unless it is one call.
const MAX_CALLS = 500;
const MAX_TEXT = 4 << 20; // UTF-16 units
const MAX_IN_URL = 1000; // UTF-16 units: a request without a body takes workerd 10 µs less

const failure = (prefix, text) => new Error(`${prefix}: ${text}`, { cause: new Error(text) });

// mayWrite reports false for a text that is one statement and only reads.
function mayWrite(sql) {
  if (typeof sql !== "string" || !/^\s*(?:select|values|explain)\b/i.test(sql)) return true;
  const end = sql.indexOf(";");
  return end >= 0 && end !== sql.trimEnd().length - 1;
}

// Line are the calls of one invocation to one database.
class Line {
  #fetcher;
  #resource;
  #waiting = [];
  #leaving = false; // at the end of this turn
  #reads = 0; // requests under way that only read
  #writes = false; // a request is under way that may write

  constructor(fetcher, resource) {
    this.#fetcher = fetcher;
    this.#resource = resource;
  }

  // call gives the answer to a call: {results} or {error}, and bookmark in a session.
  call(text, writes) {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ text, writes, resolve, reject });
      if (this.#leaving) return;
      this.#leaving = true;
      this.#leaveSoon();
    });
  }

  // leaveSoon does what a callback of queueMicrotask would do, which takes workerd longer.
  async #leaveSoon() {
    await undefined;
    this.#leaving = false;
    this.#leave();
  }

  // leave sends what waits, as far as it may.
  #leave() {
    while (this.#waiting.length > 0 && !this.#writes) {
      const n = this.#next();
      const writes = this.#waiting.slice(0, n).some((call) => call.writes);
      if (writes && this.#reads > 0) return;
      this.#send(this.#waiting.splice(0, n), writes);
    }
  }

  // next is how many of the calls that wait fit into a request.
  #next() {
    let size = 0;
    const end = this.#waiting.slice(0, MAX_CALLS).findIndex(({ text }, i) => (size += text.length) > MAX_TEXT && i > 0);
    return end < 0 ? Math.min(this.#waiting.length, MAX_CALLS) : end;
  }

  async #send(calls, writes) {
    if (writes) this.#writes = true;
    else this.#reads++;
    try {
      const answers = await span(this.#resource, "query", () => this.#exchange(calls));
      for (let i = 0; i < answers.length; i++) calls[i].resolve(answers[i]);
      this.#waiting.unshift(...calls.slice(answers.length)); // which the server left out
    } catch (error) {
      for (const call of calls) call.reject(error);
    }
    if (writes) this.#writes = false;
    else this.#reads--;
    this.#leave();
  }

  async #exchange(calls) {
    const body = calls.length === 1 ? `[${calls[0].text}]` : `[${calls.map((call) => call.text).join(",")}]`;
    const response = await (body.length <= MAX_IN_URL
      ? this.#fetcher.fetch(IN_URL + encodeURIComponent(body))
      : this.#fetcher.fetch(CALLS, { method: "POST", headers: HEADERS, body }));
    let text;
    try {
      text = await response.text();
    } catch (e) {
      throw failure("D1_ERROR", e.cause?.message || e.message || "Something went wrong");
    }
    let answers;
    try {
      answers = JSON.parse(text);
    } catch {
      throw failure("D1_ERROR", `Failed to parse body as JSON, got: ${text}`);
    }
    if (answers.length === 0) throw failure("D1_ERROR", "Something went wrong");
    return answers;
  }
}

// Database finds the Line of a call. Outside of an invocation the calls of a turn, which
// belong to one event, are a line.
class Database {
  #fetcher;
  #resource;
  #turn = undefined;

  constructor(fetcher, resource) {
    this.#fetcher = fetcher;
    this.#resource = resource;
  }

  line() {
    const invocation = current();
    if (invocation === undefined) return this.#ofTurn();
    let line = invocation.state.get(this.#resource);
    if (!line) invocation.state.set(this.#resource, (line = new Line(this.#fetcher, this.#resource)));
    return line;
  }

  #ofTurn() {
    if (this.#turn === undefined) {
      this.#turn = new Line(this.#fetcher, this.#resource);
      queueMicrotask(() => (this.#turn = undefined));
    }
    return this.#turn;
  }

  async dump() {
    const response = await this.#fetcher.fetch("http://d1/dump", { method: "POST", headers: HEADERS });
    if (response.status === 200) return response.arrayBuffer();
    throw new Error(`D1_DUMP_ERROR: Status + ${response.status}`, { cause: new Error(`Status ${response.status}`) });
  }
}

// result is the part of an answer that workers see.
const result = (r) => ("results" in r ? { success: true, meta: r.meta, results: r.results } : { success: true, meta: r.meta });

function rowObject(columns, row) {
  const o = {};
  for (let i = 0; i < row.length; i++) o[columns[i]] = row[i];
  return o;
}

const rowEntries = (columns, row) => Object.fromEntries(row.map((cell, i) => [columns[i], cell]));

const rowOf = (columns) => (columns.includes("__proto__") ? rowEntries : rowObject);

// objects is r with its rows as objects.
function objects(r) {
  if (!("results" in r)) return { ...r, results: [] };
  if (Array.isArray(r.results)) return r;
  const { columns, rows } = r.results;
  const make = rowOf(columns);
  return { ...r, results: rows.map((row) => make(columns, row)) };
}

class Session {
  #database;
  #at; // a bookmark or a constraint; null for neither

  constructor(database, at) {
    this.#database = database;
    this.#at = at;
  }

  prepare(sql) {
    return new D1PreparedStatement(this, sql);
  }

  async batch(statements) {
    const list = statements.map((s) => ({ sql: s.statement, params: s.params }));
    return (await this.ask(list, false)).map(objects);
  }

  getBookmark() {
    return this.#at === "first-primary" || this.#at === "first-unconstrained" ? null : this.#at;
  }

  #moved(bookmark) {
    const known = this.getBookmark();
    if (known === null || known.localeCompare(bookmark) < 0) this.#at = bookmark;
  }

  // send runs statements as one transaction. Their rows are objects, or arrays.
  send(statements, objects) {
    const text = JSON.stringify({ objects, at: this.#at ?? undefined, statements });
    return this.#database.line().call(text, statements.some((s) => mayWrite(s.sql)));
  }

  // ask is send for a caller that wants an exception.
  async ask(statements, objects) {
    const { results, error, bookmark } = await this.send(statements, objects);
    if (bookmark !== undefined) this.#moved(bookmark);
    if (error !== undefined) throw failure("D1_ERROR", error);
    return results.map(result);
  }
}

class D1DatabaseSession extends Session {}

class D1PreparedStatement {
  #session;

  constructor(session, statement, params) {
    this.#session = session;
    this.statement = statement;
    this.params = params || [];
  }

  bind(...values) {
    return new D1PreparedStatement(this.#session, this.statement, values.map(bindable));
  }

  // ask gives a list of one result.
  #ask(objects) {
    return this.#session.ask([{ sql: this.statement, params: this.params }], objects);
  }

  async first(column) {
    const [{ results }] = await this.#ask(false);
    let row;
    if (Array.isArray(results)) row = results[0];
    else if (results?.rows.length > 0) row = rowOf(results.columns)(results.columns, results.rows[0]);
    if (row === undefined) return null;
    if (column === undefined) return row;
    if (row[column] === undefined) {
      throw new Error(`D1_COLUMN_NOTFOUND: Column not found (${column})`, { cause: new Error("Column not found") });
    }
    return row[column];
  }

  async run() {
    return (await this.#ask(true))[0];
  }

  async all() {
    return objects((await this.#ask(false))[0]);
  }

  async raw(options) {
    const [{ results }] = await this.#ask(false);
    if (results === undefined) return [];
    return options?.columnNames ? [results.columns, ...results.rows] : results.rows;
  }
}

// bindable is what a parameter is sent as.
function bindable(v) {
  const type = typeof v;
  if (type === "number" || type === "string") return v;
  if (type === "boolean") return v ? 1 : 0;
  if (type === "object") {
    if (v == null) return v;
    if (Array.isArray(v) && v.every((b) => typeof b == "number" && b >= 0 && b < 256)) return v;
    if (v instanceof ArrayBuffer) return Array.from(new Uint8Array(v));
    if (ArrayBuffer.isView(v)) return Array.from(v);
  }
  throw failure("D1_TYPE_ERROR", `Type '${type}' not supported for value '${v}'`);
}

class D1Database extends wrappedBinding.WrappedBinding {
  #database;
  #primary;

  constructor(fetcher, resource) {
    super(fetcher);
    this.#database = new Database(fetcher, resource);
    this.#primary = new Session(this.#database, null);
  }

  prepare(sql) {
    return this.#primary.prepare(sql);
  }

  async batch(statements) {
    return this.#primary.batch(statements);
  }

  async exec(text) {
    const lines = text.trim().split("\n");
    const { results, error } = await this.#primary.send(lines.map((sql) => ({ sql })), true);
    if (error !== undefined) throw failure("D1_EXEC_ERROR", `Error in line 1: ${lines[0]}: ${error || "Something went wrong"}`);
    return { count: results.length, duration: results.reduce((sum, r) => sum + r.meta.duration, 0) };
  }

  withSession(at) {
    return new D1DatabaseSession(this.#database, at?.trim() || "first-unconstrained");
  }

  async dump() {
    return this.#database.dump();
  }
}

export default function makeBinding({ fetcher, resource }) {
  return new D1Database(fetcher, resource);
}
