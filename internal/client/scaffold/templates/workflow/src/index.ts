import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from "cloudflare:workers";

interface Params {
  item: string;
}

interface Env {
  ORDERS: Workflow<Params>;
}

// Each step that has ended is stored: after a crash the instance continues behind it.
export class Order extends WorkflowEntrypoint<Env, Params> {
  async run(event: WorkflowEvent<Params>, step: WorkflowStep): Promise<string> {
    const price = await step.do("price", async () => event.payload.item.length * 100);
    await step.sleep("a moment to cancel", "1 second");
    return step.do("ship", { retries: { limit: 3, delay: "2 seconds" } }, async () => `${event.payload.item} for ${price}`);
  }
}

export default {
  // POST /ID with an item begins an order; GET /ID shows how far it is.
  async fetch(request: Request, env: Env): Promise<Response> {
    const id = new URL(request.url).pathname.slice(1);
    if (!id) return new Response("POST an item to /ID, then GET /ID\n");
    if (request.method === "POST") {
      await env.ORDERS.create({ id, params: { item: await request.text() } });
    }
    const order = await env.ORDERS.get(id);
    return Response.json(await order.status());
  },
};
