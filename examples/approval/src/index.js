// Expenses that need an approval: each is an instance of a workflow.
//
//   POST /expenses             {"who": "ann", "amount": 20}   -> {"id": …}
//   POST /expenses/ID/decision {"approved": true}
//   GET  /expenses/ID                                         -> status and output
import { WorkflowEntrypoint } from "cloudflare:workers";
import { NonRetryableError } from "cloudflare:workflows";

export class Expense extends WorkflowEntrypoint {
  async run(event, step) {
    const { who, amount } = event.payload;
    const key = await step.do("record", async () => {
      await this.env.LEDGER.put(event.instanceId, JSON.stringify({ who, amount }));
      return event.instanceId;
    });
    const decision = await step.waitForEvent("decision", { type: "decision", timeout: "7 days" });
    if (!decision.payload.approved) return { paid: false };
    // The bank is busy at first: the step is tried again after 100 ms, 200 ms, 400 ms …
    const receipt = await step.do("pay", { retries: { limit: 5, delay: 100, backoff: "exponential" }, timeout: "1 minute" }, async ({ attempt }) => pay(who, amount, attempt));
    await step.do("close", () => this.env.LEDGER.delete(key));
    return { paid: true, receipt };
  }
}

// pay stands for the service of a bank.
async function pay(who, amount, attempt) {
  if (!(amount > 0)) throw new NonRetryableError(`${amount} cannot be paid`);
  if (attempt === 1) throw new Error("the bank is busy");
  return `${amount} to ${who}, attempt ${attempt}`;
}

export default {
  async fetch(request, env) {
    const [, , id, action] = new URL(request.url).pathname.split("/");
    if (request.method === "POST" && !id) {
      const expense = await env.EXPENSES.create({ params: await request.json() });
      return Response.json({ id: expense.id }, { status: 201 });
    }
    if (!id) return new Response("POST /expenses\n");
    try {
      const expense = await env.EXPENSES.get(id);
      if (action === "decision") await expense.sendEvent({ type: "decision", payload: await request.json() });
      return Response.json(await expense.status());
    } catch (e) {
      return Response.json({ error: e.message }, { status: 404 });
    }
  },
};
