// A worker that makes calls without awaiting them, and compares each result with a model
// that ran the calls one at a time.
//
//   /setup             makes the tables
//   /calls?id=&n=      makes n calls, mixed at random from the seed id; answers what was wrong
//   /stream?id=&wait=  begins an answer, then inserts 5000 rows, in waitUntil or while it answers
//   /inserted?id=      answers the values that id has inserted, in the order of their rows
const MB = 1 << 20;

// random is a generator of numbers from 0 to 1, by a seed.
function random(seed) {
  let x = (seed * 2654435761 + 12345) >>> 0;
  return () => {
    x ^= x << 13;
    x >>>= 0;
    x ^= x >>> 17;
    x ^= x << 5;
    x >>>= 0;
    return x / 2 ** 32;
  };
}

// Calls makes calls and notes what each should give.
class Calls {
  wrong = [];
  pending = [];
  log = []; // rows of the table log, in order
  next = 0; // the value of the next row
  count = 0; // the row of the table counters
  kv = new Map();
  objects = new Map();

  constructor(env, id) {
    this.env = env;
    this.id = id;
    this.random = random(id);
  }

  pick(list) {
    return list[Math.floor(this.random() * list.length)];
  }

  // expect notes a call and what it should give.
  expect(what, promise, want) {
    const at = this.pending.length;
    const compare = (got) => {
      if (JSON.stringify(got) !== JSON.stringify(want)) this.wrong.push(`${at} ${what}: ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
    };
    this.pending.push(promise.then(compare, (e) => compare(String(e))));
  }

  insert() {
    const { DB } = this.env;
    this.log.push(this.next++);
    this.expect("insert", DB.prepare("INSERT INTO log (id, v) VALUES (?, ?)").bind(this.id, this.next - 1).run().then((r) => r.success), true);
  }

  update() {
    const by = 1 + Math.floor(this.random() * 9);
    this.count = (this.count * 3 + by) % 1000003;
    const sql = "UPDATE counters SET n = (n * 3 + ?) % 1000003 WHERE id = ? RETURNING n";
    this.expect("update", this.env.DB.prepare(sql).bind(by, this.id).first("n"), this.count);
  }

  remove() {
    this.log.shift();
    const sql = "DELETE FROM log WHERE id = ?1 AND v = (SELECT min(v) FROM log WHERE id = ?1)";
    this.expect("delete", this.env.DB.prepare(sql).bind(this.id).run().then((r) => r.success), true);
  }

  select() {
    const session = this.random() < 0.3 ? this.env.DB.withSession() : this.env.DB;
    const sql = "SELECT n, (SELECT group_concat(v) FROM (SELECT v FROM log WHERE log.id = counters.id ORDER BY rowid)) AS log FROM counters WHERE id = ?";
    const want = { n: this.count, log: this.log.length > 0 ? this.log.join(",") : null };
    this.expect("select", session.prepare(sql).bind(this.id).first(), want);
  }

  batch() {
    const { DB } = this.env;
    this.count = (this.count + 1) % 1000003;
    const statements = [
      DB.prepare("UPDATE counters SET n = (n + 1) % 1000003 WHERE id = ?").bind(this.id),
      DB.prepare("SELECT n FROM counters WHERE id = ?").bind(this.id),
    ];
    this.expect("batch", DB.batch(statements).then((r) => r[1].results[0].n), this.count);
  }

  fail() {
    this.expect("fail", this.env.DB.prepare("INSERT INTO nowhere VALUES (1)").run(), "Error: D1_ERROR: no such table: nowhere: SQLITE_ERROR");
  }

  key() {
    return `${this.id}/${this.pick(["a", "b", "c"])}`;
  }

  // value is a text that tells which call wrote it; one of 40 is of 1 MB.
  value() {
    const value = `value ${this.pending.length} of ${this.id}`;
    return this.random() < 0.025 ? value.padEnd(MB, ".") : value;
  }

  short(text) {
    return text === null ? null : `${text.length} ${text.slice(0, 40)}`;
  }

  kvPut() {
    const key = this.key(), value = this.value();
    const buffer = this.random() < 0.5 ? new TextEncoder().encode(value) : value;
    this.kv.set(key, value);
    this.expect("kv put", this.env.KV.put(key, buffer), undefined);
    if (typeof buffer !== "string" && buffer.length < MB && this.waits(key)) buffer.fill(0); // a call that waits has a copy
  }

  // waits reports that a call on the key was made in this turn, so that a later one waits.
  waits(key) {
    const waits = this.turn?.has(key) ?? false;
    (this.turn ??= new Set()).add(key);
    return waits;
  }

  kvGet() {
    const key = this.key();
    this.expect("kv get", this.env.KV.get(key).then(this.short), this.short(this.kv.get(key) ?? null));
  }

  kvMany() {
    const keys = ["a", "b"].map((k) => `${this.id}/${k}`);
    const want = keys.map((k) => this.short(this.kv.get(k) ?? null));
    this.expect("kv get of two", this.env.KV.get(keys).then((m) => keys.map((k) => this.short(m.get(k)))), want);
  }

  kvDelete() {
    const key = this.key();
    this.kv.delete(key);
    this.expect("kv delete", this.env.KV.delete(key), undefined);
  }

  kvList() {
    const want = [...this.kv.keys()].sort();
    this.expect("kv list", this.env.KV.list({ prefix: `${this.id}/` }).then((l) => l.keys.map((k) => k.name)), want);
  }

  r2Put() {
    const key = this.key(), value = this.value();
    this.objects.set(key, value);
    this.expect("r2 put", this.env.R2.put(key, value, { customMetadata: { of: String(this.id) } }).then((o) => o.size), value.length);
  }

  r2Get() {
    const key = this.key();
    this.expect("r2 get", this.env.R2.get(key).then(async (o) => this.short((await o?.text()) ?? null)), this.short(this.objects.get(key) ?? null));
  }

  r2Head() {
    const key = this.key();
    this.expect("r2 head", this.env.R2.head(key).then((o) => o?.size), this.objects.get(key)?.length);
  }

  r2Delete() {
    const keys = this.random() < 0.5 ? this.key() : [this.key(), this.key()];
    for (const key of [keys].flat()) this.objects.delete(key);
    this.expect("r2 delete", this.env.R2.delete(keys), undefined);
  }

  r2List() {
    const want = [...this.objects.keys()].sort();
    this.expect("r2 list", this.env.R2.list({ prefix: `${this.id}/` }).then((l) => l.objects.map((o) => o.key)), want);
  }

  // r2Stream copies an object that is read while it is written to another key.
  async r2Stream() {
    const key = `stream/${this.id}`, text = this.value();
    const { readable, writable } = new FixedLengthStream(text.length);
    const put = this.env.R2.put(key, readable);
    this.kvPut(); // a call that does not wait for the stream
    const writer = writable.getWriter();
    await writer.write(new TextEncoder().encode(text));
    await writer.close();
    await put;
    this.turn = undefined;
    this.expect("r2 head of a stream", this.env.R2.head(key).then((o) => o?.size), text.length);
  }

  async r2Upload() {
    const key = this.key(), text = this.value();
    const upload = await this.env.R2.createMultipartUpload(key);
    const part = await upload.uploadPart(1, text);
    this.turn = undefined;
    this.objects.set(key, text);
    this.expect("r2 upload", upload.complete([part]).then((o) => o.size), text.length);
    this.expect("r2 get of an upload", this.env.R2.get(key).then(async (o) => this.short((await o?.text()) ?? null)), this.short(text));
  }

  // some makes one call, and at times waits: for nothing, for a timer, or for some results.
  async some() {
    const kinds = "insert insert update select remove batch fail kvPut kvPut kvGet kvMany kvDelete kvList r2Put r2Get r2Head r2Delete r2List";
    const x = this.random();
    if (x < 0.02) await this.r2Stream();
    else if (x < 0.03) await this.r2Upload();
    else this[this.pick(kinds.split(" "))]();
    const pause = this.random();
    if (pause > 0.2) return;
    if (pause < 0.05) await Promise.resolve();
    else if (pause < 0.1) await scheduler.wait(0);
    else if (pause < 0.15) await this.pick(this.pending);
    else await Promise.all(this.pending.slice(-3));
    this.turn = undefined;
  }

  async all(n) {
    await this.env.DB.prepare("INSERT INTO counters VALUES (?, 0)").bind(this.id).run();
    for (let i = 0; i < n; i++) await this.some();
    await Promise.all(this.pending);
    this.select();
    await this.pending.at(-1);
    return { calls: this.pending.length, wrong: this.wrong };
  }
}

// long answers one byte, and then makes inserts.
function long(env, ctx, id, wait) {
  const { readable, writable } = new TransformStream();
  const work = async () => {
    const writer = writable.getWriter();
    await writer.write(new TextEncoder().encode("."));
    const sql = env.DB.prepare("INSERT INTO log (id, v) VALUES (?, ?)");
    for (let v = 0; v < 5000; ) {
      const some = [];
      for (const end = v + 1 + (v % 7); v < end; v++) some.push(sql.bind(id, v).run());
      await some[0];
    }
    await writer.close();
  };
  const done = work();
  if (wait) ctx.waitUntil(done);
  return new Response(readable);
}

export default {
  async fetch(request, env, ctx) {
    const url = new URL(request.url);
    const id = Number(url.searchParams.get("id")), n = Number(url.searchParams.get("n"));
    switch (url.pathname) {
      case "/setup":
        await env.DB.exec("CREATE TABLE log (id INTEGER, v INTEGER);\nCREATE INDEX log_id ON log (id);\nCREATE TABLE counters (id INTEGER PRIMARY KEY, n INTEGER)");
        return new Response("ok");
      case "/stream":
        return long(env, ctx, id, url.searchParams.has("wait"));
      case "/inserted":
        return Response.json((await env.DB.prepare("SELECT v FROM log WHERE id = ? ORDER BY rowid").bind(id).raw()).flat());
      default:
        return Response.json(await new Calls(env, id).all(n));
    }
  },
};
