import { add, check, list, trim } from "./entries";
import type { Env, Signed } from "./env";
import { page } from "./page";

export default {
  async fetch(request, env): Promise<Response> {
    const { pathname } = new URL(request.url);
    switch (`${request.method} ${pathname}`) {
      case "GET /":
        return new Response(page(env, await list(env), await visit(env)), {
          headers: { "content-type": "text/html; charset=utf-8" },
        });
      case "GET /api":
        return Response.json({
          greeting: env.GREETING,
          version: env.VERSION.id,
          visits: await visit(env),
          entries: await list(env),
        });
      case "POST /entries":
        return sign(request, env);
      case "GET /live":
        return live(request, env);
      default:
        return new Response("not found\n", { status: 404 });
    }
  },

  /** Runs every night: "triggers" of the project file. */
  async scheduled(controller, env): Promise<void> {
    console.log(`${controller.cron}: deleted ${await trim(env)} entries`);
  },

  /** Receives what sign has sent: "queues" of the project file. A message may arrive twice, so it is not counted. */
  async queue(batch, env): Promise<void> {
    for (const { body } of batch.messages) await env.VISITS.put(`signed:${body.name}`, body.at);
  },
} satisfies ExportedHandler<Env, Signed>;

/** Counts a visit. KV has no increments: two concurrent visits may count as one. */
async function visit(env: Env): Promise<number> {
  const visits = Number((await env.VISITS.get("visits")) ?? "0") + 1;
  await env.VISITS.put("visits", String(visits));
  return visits;
}

async function sign(request: Request, env: Env): Promise<Response> {
  const isForm = request.headers.get("content-type")?.includes("form") ?? false;
  const fields: Record<string, unknown> = isForm
    ? Object.fromEntries(await request.formData())
    : await request.json();
  const { name, message } = fields;
  const problem = check(env, name, message);
  if (problem !== undefined) return Response.json({ error: problem }, { status: 422 });
  const entry = await add(env, name as string, message as string);
  console.log("signed by", entry.name);
  await env.SIGNED.send({ name: entry.name, at: new Date().toISOString() });
  return isForm ? Response.redirect(new URL("/", request.url).href, 303) : Response.json(entry, { status: 201 });
}

/** A websocket that answers each message with the greeting of this version. */
function live(request: Request, env: Env): Response {
  if (request.headers.get("upgrade") !== "websocket") {
    return new Response("this is a websocket\n", { status: 426, headers: { upgrade: "websocket" } });
  }
  const { 0: client, 1: server } = new WebSocketPair();
  server.accept();
  server.addEventListener("message", ({ data }) => {
    server.send(`${env.GREETING}, ${data} (from ${env.VERSION.id})`);
  });
  return new Response(null, { status: 101, webSocket: client });
}
