var __defProp = Object.defineProperty;
var __getOwnPropNames = Object.getOwnPropertyNames;
var __name = (target, value) => __defProp(target, "name", { value, configurable: true });
var __esm = (fn, res, err) => function __init() {
  if (err) throw err[0];
  try {
    return fn && (res = (0, fn[__getOwnPropNames(fn)[0]])(fn = 0)), res;
  } catch (e) {
    throw err = [e], e;
  }
};
var __export = (target, all) => {
  for (var name in all)
    __defProp(target, name, { get: all[name], enumerable: true });
};

// src/lazy.ts
var lazy_exports = {};
__export(lazy_exports, {
  lazy: () => lazy
});
var lazy;
var init_lazy = __esm({
  "src/lazy.ts"() {
    lazy = /* @__PURE__ */ __name(() => "later", "lazy");
  }
});

// src/index.ts
import { DurableObject } from "cloudflare:workers";
import help from "./bf8a79efe7d013e83df3a4cb20684f7888b9902c-help.md";
var Room = class extends DurableObject {
  static {
    __name(this, "Room");
  }
  async add(n) {
    const sum = (await this.ctx.storage.get("sum") ?? 0) + n;
    await this.ctx.storage.put("sum", sum);
    return sum;
  }
};
var index_default = {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === "/api/room") return new Response(String(await env.ROOM.getByName("a").add(1)));
    const { lazy: lazy2 } = await Promise.resolve().then(() => (init_lazy(), lazy_exports));
    return Response.json({ stage: env.STAGE, limits: env.LIMITS, help, lazy: lazy2(), db: (await env.DB.prepare("select count(*) n from items").first()).n, names: Object.keys(env).sort() });
  },
  async scheduled() {
  },
  async queue() {
  }
};
export {
  Room,
  index_default as default
};
//# sourceMappingURL=index.js.map
