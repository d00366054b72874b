import { DurableObject } from "cloudflare:workers";
import help from "./help.md";
export class Room extends DurableObject {
  async add(n: number) { const sum = ((await this.ctx.storage.get<number>("sum")) ?? 0) + n; await this.ctx.storage.put("sum", sum); return sum; }
}
export default {
  async fetch(request: Request, env: any) {
    const { pathname } = new URL(request.url);
    if (pathname === "/api/room") return new Response(String(await env.ROOM.getByName("a").add(1)));
    const { lazy } = await import("./lazy");
    return Response.json({ stage: env.STAGE, limits: env.LIMITS, help, lazy: lazy(), db: (await env.DB.prepare("select count(*) n from items").first()).n, names: Object.keys(env).sort() });
  },
  async scheduled() {},
  async queue() {},
};
