import { DurableObject } from "cloudflare:workers";

interface Env {
  COUNTERS: DurableObjectNamespace<Counter>;
}

// One object for each name, with a database of its own: no two requests change the
// same counter at the same time.
export class Counter extends DurableObject<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    ctx.storage.sql.exec("create table if not exists hits (at text not null)");
  }

  async hit(): Promise<number> {
    this.ctx.storage.sql.exec("insert into hits (at) values (datetime('now'))");
    return Number(this.ctx.storage.sql.exec("select count(*) as n from hits").one().n);
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const name = new URL(request.url).pathname;
    const n = await env.COUNTERS.getByName(name).hit();
    return new Response(`${name} was asked ${n} times\n`);
  },
};
