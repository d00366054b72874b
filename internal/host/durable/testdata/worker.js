// Objects whose every commit keeps an invariant: the table c has the number and the bytes of
// the rows of t.
import { DurableObject } from "cloudflare:workers";

export class Obj extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    this.sql = ctx.storage.sql;
    this.sql.exec("CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY, v BLOB); CREATE TABLE IF NOT EXISTS c(n, s)");
  }

  async fetch(request) {
    try {
      return await this.serve(request);
    } catch (e) {
      return new Response(e.message, { status: 500 });
    }
  }

  async serve(request) {
    const url = new URL(request.url);
    const [, , op, arg] = url.pathname.split("/");
    switch (op) {
      case "write":
        return new Response(await this.write(Number(arg)));
      case "clear":
        await this.ctx.storage.deleteAll();
        return new Response("cleared");
      case "alarm":
        await this.ctx.storage.setAlarm(Date.now() + Number(arg));
        return new Response("set");
      case "unset":
        await this.ctx.storage.deleteAlarm();
        return new Response("deleted");
      case "alarmed":
        return Response.json([await this.ctx.storage.getAlarm(), (await this.ctx.storage.get("fired")) ?? 0]);
      case "add":
        await this.ctx.storage.put("n", ((await this.ctx.storage.get("n")) ?? 0) + 1);
        return new Response(String(await this.ctx.storage.get("n")));
      case "facet":
        return new Response(String(await this.ctx.facets.get(arg, () => ({ class: this.ctx.exports.Part })).add()));
      case "forget":
        this.ctx.facets.delete(arg);
        return new Response("deleted");
      case "get":
        return new Response(String((await this.ctx.storage.get("n")) ?? 0));
    }
  }

  // write makes some commits of its seed.
  async write(seed) {
    const next = () => (seed = (seed * 1103515245 + 12345) & 0x7fffffff);
    this.sql.exec("CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY, v BLOB); CREATE TABLE IF NOT EXISTS c(n, s)"); // after a clear
    for (let i = 0; i < 1 + (seed % 7); i++) {
      const x = next() % 100;
      if (x < 60) this.sql.exec("INSERT INTO t(v) VALUES (randomblob(?))", 10 + (next() % 3000));
      else if (x < 80) this.sql.exec("UPDATE t SET v = randomblob(?) WHERE id = (SELECT id FROM t LIMIT 1 OFFSET ?)", 10 + (next() % 6000), next() % 20);
      else if (x < 97) this.sql.exec("DELETE FROM t WHERE id IN (SELECT id FROM t ORDER BY random() LIMIT ?)", 1 + (next() % 4));
      else this.sql.exec("INSERT INTO t(v) VALUES (randomblob(?))", 100000 + (next() % 500000));
      this.sql.exec("DELETE FROM c");
      this.sql.exec("INSERT INTO c SELECT count(*), coalesce(sum(length(v)), 0) FROM t");
      if (next() % 3 === 0) await scheduler.wait(0);
    }
    return String(this.sql.databaseSize);
  }

  async alarm() {
    await this.ctx.storage.put("fired", ((await this.ctx.storage.get("fired")) ?? 0) + 1);
  }
}

// Part is the class of facets.
export class Part extends DurableObject {
  async add() {
    const n = ((await this.ctx.storage.get("n")) ?? 0) + 1;
    await this.ctx.storage.put("n", n);
    return n;
  }
}

export default {
  fetch(request, env) {
    return env.OBJ.getByName(new URL(request.url).pathname.split("/")[1]).fetch(request);
  },
};
