import { DurableObject } from "cloudflare:workers";
// src/index.ts
var help = "";
var Room = class extends DurableObject {
	async add(n) {
		const sum = (await this.ctx.storage.get("sum") ?? 0) + n;
		await this.ctx.storage.put("sum", sum);
		return sum;
	}
};
// \0virtual:cloudflare/worker-entry
var worker_entry_default = {
	async fetch(request, env) {
		const { pathname } = new URL(request.url);
		if (pathname === "/api/room") return new Response(String(await env.ROOM.getByName("a").add(1)));
		const { lazy } = await import("./assets/lazy-DUqhxq8O.js");
		return Response.json({
			stage: env.STAGE,
			limits: env.LIMITS,
			help,
			lazy: lazy(),
			db: (await env.DB.prepare("select count(*) n from items").first()).n,
			names: Object.keys(env).sort()
		});
	},
	async scheduled() {},
	async queue() {}
};
export { Room, worker_entry_default as default };

//# sourceMappingURL=index.js.map